#include "loup/ops/random.h"

#include <string>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "autograd.h"
#include "define.h"
#include "loup/base/error.h"
#include "loup/masked/create.h"
#include "loup/masked/random.h"
#include "loup/ops/dropout.h"
#include "loup/ops/sampling.h"
#include "loup/tensor/create.h"

namespace loup::python {

using namespace nb::literals;
using ops::Generator;

namespace {

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

nb::int_ whole_number(const char* operation, nb::handle object) {
  if (PyBool_Check(object.ptr()) || PyIndex_Check(object.ptr()) == 0) {
    throw_type_error("{}: expected an int, got {}", operation, class_name(object));
  }
  return nb::steal<nb::int_>(PyNumber_Index(object.ptr()));
}

/// Any 64 bits, signed or not.
std::uint64_t seed_from(const char* operation, nb::handle object) {
  const nb::int_ seed = whole_number(operation, object);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(seed.ptr(), &overflow);
  if (overflow == 0) return static_cast<std::uint64_t>(value);
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(seed.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw ValueError("{}: expected an int of 64 bits, got {}", operation, text_of(seed));
  }
  return large;
}

Generator generator_from(const char* operation, nb::handle object) {
  if (object.is_none()) return ops::default_generator();
  if (!nb::isinstance<Generator>(object)) {
    throw_type_error("{}: expected a Generator, got {}", operation, class_name(object));
  }
  return nb::cast<const Generator&>(object);
}

ops::RandomOptions options_from(const char* operation, nb::handle dtype, nb::handle generator) {
  return {.dtype = dtype_from(operation, dtype), .generator = generator_from(operation, generator)};
}

/// [low, high), or [0, low) without a high. The end may be 2^63, which is no int64 itself.
ops::IntegerRange integer_range_from(const char* operation, nb::handle low, nb::handle high) {
  const bool has_high = !high.is_none();
  const nb::int_ first = has_high ? whole_number(operation, low) : nb::int_(0);
  const nb::int_ end = whole_number(operation, has_high ? high : low);
  if (!(first < end)) {
    throw ValueError("{}: expected low < high, got low {} and high {}", operation, text_of(first),
                     text_of(end));
  }
  int is_too_low = 0;
  int is_too_high = 0;
  const nb::object last = end - nb::int_(1);
  const ops::IntegerRange range{PyLong_AsLongLongAndOverflow(first.ptr(), &is_too_low),
                                PyLong_AsLongLongAndOverflow(last.ptr(), &is_too_high)};
  if (is_too_low != 0 || is_too_high != 0) {
    throw ValueError("{}: expected numbers of int64, from {} to {}, got low {} and high {}",
                     operation, INT64_MIN, INT64_MAX, text_of(first), text_of(end));
  }
  return range;
}

// --- calls ---

template <auto make>
void define_fill(nb::module_& m, const char* name) {
  define_function(
      m, name,
      [name](const nb::args& size, nb::handle dtype, bool requires_grad, nb::handle generator) {
        const Shape shape = dims_from_args(name, size);
        const ops::RandomOptions options = options_from(name, dtype, generator);
        return as_leaf(without_gil(element_count(shape), [&] { return make(shape, options); }),
                       requires_grad);
      },
      "size"_a, "dtype"_a.none() = nb::none(), "requires_grad"_a = false,
      "generator"_a.none() = nb::none());
}

template <auto make, auto make_masked>
void define_like(nb::module_& m, const char* name) {
  define(
      m, name,
      [name](nb::handle input, nb::handle dtype, bool requires_grad, nb::handle generator) {
        const ops::RandomOptions options = options_from(name, dtype, generator);
        if (const MaskedTensor* const x = masked_tensor_in(input)) {
          return nb::cast(as_leaf(without_gil(x->size(), [&] { return make_masked(*x, options); }),
                                  requires_grad));
        }
        const TensorArgument x(name, input);
        return nb::cast(
            as_leaf(without_gil(x->size(), [&] { return make(*x, options); }), requires_grad));
      },
      nb::kw_only(), "dtype"_a.none() = nb::none(), "requires_grad"_a = false,
      "generator"_a.none() = nb::none());
}

Tensor normal(nb::handle mean, nb::handle std, nb::handle size, nb::handle dtype,
              bool requires_grad, nb::handle generator) {
  const ops::RandomOptions options = options_from("normal", dtype, generator);
  if (is_plain_number(mean) && is_plain_number(std)) {
    const Shape shape = dims_from("normal", size);
    const double center = scalar_from("normal", mean).to<double>();
    const double spread = scalar_from("normal", std).to<double>();
    const auto make = [&] { return ops::normal(center, spread, shape, options); };
    return as_leaf(without_gil(element_count(shape), make), requires_grad);
  }
  if (!size.is_none()) {
    throw_type_error("normal: expected a size only where mean and std are numbers, got tensors");
  }
  // A number takes the dtype of the tensor beside it.
  const TensorArgument first("normal", is_plain_number(mean) ? std : mean);
  const auto beside = [&](nb::handle object) {
    if (!is_plain_number(object)) return as_tensor("normal", object);
    return full({}, scalar_from("normal", object), first->dtype());
  };
  const Tensor center = beside(mean);
  const Tensor spread = beside(std);
  return as_leaf(without_gil(center.size() + spread.size(),
                             [&] { return ops::normal(center, spread, options); }),
                 requires_grad);
}

Tensor randint(nb::handle low, nb::handle high, nb::handle size, nb::handle dtype,
               nb::handle generator) {
  const bool has_size_second =
      size.is_none() && !high.is_none() && PyIndex_Check(high.ptr()) == 0;  // randint(10, (2, 3))
  const ops::IntegerRange range =
      integer_range_from("randint", low, has_size_second ? nb::handle(nb::none()) : high);
  const Shape shape = dims_from("randint", has_size_second ? high : size);
  const ops::RandomOptions options = options_from("randint", dtype, generator);
  return without_gil(element_count(shape), [&] { return ops::randint(range, shape, options); });
}

nb::object bernoulli(nb::handle input, nb::handle p, nb::handle dtype, nb::handle generator) {
  ops::RandomOptions options = options_from("bernoulli", dtype, generator);
  if (p.is_none()) {
    return with_input("bernoulli", input, [&](const auto& x) {
      using masked::bernoulli;  // both: x decides
      using ops::bernoulli;
      return bernoulli(x, options);
    });
  }
  const double chance = scalar_from("bernoulli", p).to<double>();
  const auto events = [&](const Tensor& x) {
    if (!options.dtype) options.dtype = x.dtype();
    return without_gil(x.size(), [&] { return ops::bernoulli(chance, x.shape(), options); });
  };
  if (const MaskedTensor* const x = masked_tensor_in(input)) {
    return nb::cast(masked::with_mask_of(*x, events(x->get_data())));
  }
  return nb::cast(events(*TensorArgument("bernoulli", input)));
}

void bind_creation(nb::module_& m) {
  define_fill<static_cast<Tensor (*)(const Shape&, const ops::RandomOptions&)>(ops::rand)>(m,
                                                                                           "rand");
  define_fill<static_cast<Tensor (*)(const Shape&, const ops::RandomOptions&)>(ops::randn)>(
      m, "randn");
  define_like<ops::rand_like, masked::rand_like>(m, "rand_like");
  define_like<ops::randn_like, masked::randn_like>(m, "randn_like");
  define_function(m, "normal", normal, "mean"_a = 0.0, "std"_a = 1.0, "size"_a.none() = nb::none(),
                  nb::kw_only(), "dtype"_a.none() = nb::none(), "requires_grad"_a = false,
                  "generator"_a.none() = nb::none());
  define_function(m, "randint", randint, "low"_a, "high"_a.none() = nb::none(),
                  "size"_a.none() = nb::none(), nb::kw_only(), "dtype"_a.none() = nb::none(),
                  "generator"_a.none() = nb::none());
  define(
      m, "randint_like",
      [](nb::handle input, nb::handle low, nb::handle high, nb::handle dtype,
         nb::handle generator) {
        const ops::IntegerRange range = integer_range_from("randint_like", low, high);
        const ops::RandomOptions options = options_from("randint_like", dtype, generator);
        return with_input("randint_like", input, [&](const auto& x) {
          using masked::randint_like;  // both: x decides
          using ops::randint_like;
          return randint_like(x, range, options);
        });
      },
      "low"_a, "high"_a.none() = nb::none(), nb::kw_only(), "dtype"_a.none() = nb::none(),
      "generator"_a.none() = nb::none());
  define(m, "bernoulli", bernoulli, "p"_a.none() = nb::none(), nb::kw_only(),
         "dtype"_a.none() = nb::none(), "generator"_a.none() = nb::none());
}

void bind_sampling(nb::module_& m) {
  define_function(
      m, "randperm",
      [](nb::handle n, nb::handle generator) {
        const std::int64_t count = integer_from("randperm", n);
        const Generator source = generator_from("randperm", generator);
        return without_gil(count, [&] { return ops::randperm(count, source); });
      },
      "n"_a, nb::kw_only(), "generator"_a.none() = nb::none());
  define(
      m, "multinomial",
      [](nb::handle input, nb::handle num_samples, bool replacement, nb::handle generator) {
        const std::int64_t count = integer_from("multinomial", num_samples);
        const ops::MultinomialOptions options{
            .replacement = replacement, .generator = generator_from("multinomial", generator)};
        return with_input("multinomial", input, [&](const auto& weights) {
          using masked::multinomial;  // both: the weights decide
          using ops::multinomial;
          return multinomial(weights, count, options);
        });
      },
      "num_samples"_a, "replacement"_a = false, nb::kw_only(), "generator"_a.none() = nb::none());
  define(
      m, "dropout",
      [](nb::handle input, double p, bool training, nb::handle generator) {
        const Generator source = generator_from("dropout", generator);
        return with_input("dropout", input, [&](const auto& x) {
          using masked::dropout;  // both: x decides
          using ops::dropout;
          return dropout(x, p, training, source);
        });
      },
      "p"_a = 0.5, "training"_a = true, nb::kw_only(), "generator"_a.none() = nb::none());
}

// --- methods that write into the tensor ---

void bernoulli_in_place(nb::handle self, nb::handle p, nb::handle generator) {
  const Generator source = generator_from("bernoulli_", generator);
  const auto write = [&](const auto& chances) {
    with_self(self, [&](auto& x) {
      using masked::bernoulli_;  // both: x decides
      using ops::bernoulli_;
      bernoulli_(x, chances, source);
    });
  };
  if (is_plain_number(p)) return write(scalar_from("bernoulli_", p).to<double>());
  write(*TensorArgument("bernoulli_", p));
}

void bind_methods() {
  define_in_place(
      "uniform_",
      [](nb::handle self, double low, double high, nb::handle generator) {
        const Generator source = generator_from("uniform_", generator);
        with_self(self, [&](auto& x) {
          using masked::uniform_;  // both: x decides
          using ops::uniform_;
          uniform_(x, low, high, source);
        });
      },
      "low"_a = 0.0, "high"_a = 1.0, nb::kw_only(), "generator"_a.none() = nb::none());
  define_in_place(
      "normal_",
      [](nb::handle self, double mean, double std, nb::handle generator) {
        const Generator source = generator_from("normal_", generator);
        with_self(self, [&](auto& x) {
          using masked::normal_;  // both: x decides
          using ops::normal_;
          normal_(x, mean, std, source);
        });
      },
      "mean"_a = 0.0, "std"_a = 1.0, nb::kw_only(), "generator"_a.none() = nb::none());
  define_in_place(
      "bernoulli_",
      [](nb::handle self, nb::handle p, nb::handle generator) {
        bernoulli_in_place(self, p, generator);
      },
      "p"_a = 0.5, nb::kw_only(), "generator"_a.none() = nb::none());
}

// --- the generator ---

nb::tuple state_of(const Generator& generator) {
  const Generator::State state = generator.state();
  return nb::make_tuple(state.seed, state.offset);
}

Generator::State state_from(nb::handle object) {
  nb::tuple state;
  if (!nb::try_cast(object, state) || state.size() != 2) {
    throw_type_error("set_state: expected what get_state gives, got {}", class_name(object));
  }
  return {seed_from("set_state", state[0]), seed_from("set_state", state[1])};
}

void bind_generator(nb::module_& m) {
  nb::class_<Generator>(m, "Generator",
                        "A source of random numbers: a seed, and how much of its sequence has been "
                        "used.")
      .def(
          "__init__",
          [](Generator* self, nb::handle seed) {
            if (seed.is_none()) {
              new (self) Generator();
            } else {
              new (self) Generator(seed_from("Generator", seed));
            }
          },
          "seed"_a.none() = nb::none(),
          nb::sig("def __init__(self, seed: int | None = None) -> None"))
      .def(
          "manual_seed",
          [](nb::handle_t<Generator> self, nb::handle seed) {
            nb::cast<Generator&>(self).manual_seed(seed_from("manual_seed", seed));
            return nb::borrow(self);
          },
          "seed"_a, nb::sig("def manual_seed(self, seed: int) -> Generator"),
          "Begin the sequence of a seed.")
      .def(
          "seed",
          [](Generator& self) {
            self.manual_seed(Generator().seed());
            return self.seed();
          },
          "Begin the sequence of a seed from the operating system, and return it.")
      .def("initial_seed", &Generator::seed, "The seed.")
      .def("get_state", state_of, nb::sig("def get_state(self) -> tuple[int, int]"),
           "Everything there is to save: the seed, and how much of the sequence has been used.")
      .def(
          "set_state",
          [](nb::handle_t<Generator> self, nb::handle state) {
            nb::cast<Generator&>(self).set_state(state_from(state));
            return nb::borrow(self);
          },
          "state"_a, nb::sig("def set_state(self, state: tuple[int, int]) -> Generator"),
          "Continue where another generator was when it gave this state.")
      .def("__getstate__", state_of, nb::sig("def __getstate__(self) -> tuple[int, int]"))
      .def(
          "__setstate__",
          [](Generator* self, nb::handle saved) {
            const Generator::State state = state_from(saved);
            new (self) Generator(state.seed);
            self->set_state(state);
          },
          nb::sig("def __setstate__(self, state: tuple[int, int]) -> None"))
      .def("__repr__", [](const Generator& self) {
        const Generator::State state = self.state();
        return fmt::format("Generator(seed={}, offset={})", state.seed, state.offset);
      });
  m.attr("default_generator") = nb::cast(ops::default_generator());
  m.def(
      "manual_seed", [](nb::handle seed) { ops::manual_seed(seed_from("manual_seed", seed)); },
      "seed"_a, nb::sig("def manual_seed(seed: int) -> None"),
      "Begin the sequence of a seed, for calls that are given no generator.");
}

}  // namespace

void bind_random(nb::module_& m) {
  bind_generator(m);
  bind_creation(m);
  bind_sampling(m);
  bind_methods();
}

}  // namespace loup::python
