"""Masked tensors: data and a mask that tells which elements count.

>>> import loup
>>> x = loup.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
>>> m = loup.tensor([[True, False, True], [True, True, False]])
>>> loup.masked.sum(x, dim=1, mask=m).tolist()
[4.0, 9.0]
"""

from loup import _loup, autograd, debug, masked, notebook, shm
from loup._loup import *  # noqa: F403  (every operator and dtype; the list is the library's own)
from loup._loup import version as __version__
from loup.autograd import enable_grad, no_grad, set_grad_enabled
from loup.creation import ones, ones_like, zeros, zeros_like
from loup.masked import is_masked_tensor, masked_tensor, strict_masks
from loup.numpy_ma import from_numpy_ma
from loup.shm import from_file

# Not part of the interface: for tests, or under another name.
_private = {
    "Mapping",
    "Poison",
    "Segment",
    "autograd_backward",
    "autograd_grad",
    "autograd_record",
    "choose_target",
    "map_file",
    "output_mask",
    "set_sigbus_shield",
    "shm_anonymous",
    "shm_attach",
    "shm_create",
    "shm_drop",
    "shm_from_descriptor",
    "shm_info",
    "shm_list",
    "shm_remove",
    "shm_sweep",
    "switch_strict_masks",
    "tensor_from_bytes",
    "tensor_from_handle",
    "tensor_handle",
    "version",
}

__all__ = ["__version__", "autograd", "debug", "is_masked_tensor", "masked", "masked_tensor"]
__all__ += ["strict_masks"]
__all__ += ["from_file", "from_numpy_ma", "notebook", "shm"]
__all__ += ["enable_grad", "no_grad", "set_grad_enabled"]
__all__ += ["ones", "ones_like", "zeros", "zeros_like"]
__all__ += [name for name in vars(_loup) if not name.startswith("_") and name not in _private]
