#include "bindings.h"

NB_MODULE(_loup, m) {
  namespace python = loup::python;
  namespace nb = nanobind;
  // Objects that live until the interpreter ends are no leak worth a message on the user's screen.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled half of loup; import loup instead.";
  python::bind_errors(m);
  python::bind_dtype(m);
  python::bind_tensor(m);
  python::bind_masked_tensor(m);
  python::bind_layout();
  python::bind_autograd(m);
  python::bind_create(m);
  python::bind_elementwise(m);
  python::bind_selection(m);
  python::bind_logic(m);
  python::bind_linalg(m);
  python::bind_gather(m);
  python::bind_masking(m);
  python::bind_sort(m);
  python::bind_search(m);
  python::bind_join(m);
  python::bind_shape(m);
  python::bind_views(m);
  python::bind_windows(m);
  python::bind_random(m);
  python::bind_nn(m);
  python::bind_masked(m);
  python::bind_files(m);
  python::bind_shm(m);
  python::bind_pickling(m);
  python::bind_system(m);
}
