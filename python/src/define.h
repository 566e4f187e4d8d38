#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "bindings.h"
#include "loup/masked/moves.h"
#include "loup/ops/functions.h"

// How operators that are plain functions become Python functions and methods: signature and
// docstring come from the list, only the call is written in the binding.

namespace loup::python {

inline const ops::Function& listed(const char* name) {
  const ops::Function* const function = ops::find_function(name);
  if (function == nullptr) throw std::logic_error(fmt::format("{} is in no list", name));
  return *function;
}

// --- tensors and masked tensors ---

template <class Class>
inline constexpr const char* class_name_of = "Tensor";
template <>
inline constexpr const char* class_name_of<MaskedTensor> = "MaskedTensor";

/// Calls `call(x)` with a MaskedTensor or with anything that becomes a tensor; `cast` makes the
/// result a Python object.
template <class Call, class Cast>
nb::object with_input(const char* operation, nb::handle input, const Call& call, const Cast& cast) {
  if (const MaskedTensor* x = masked_tensor_in(input)) {
    return cast(without_gil(x->size(), [&] { return call(*x); }));
  }
  const TensorArgument x(operation, input);
  return cast(without_gil(x->size(), [&] { return call(*x); }));
}
template <class Call>
nb::object with_input(const char* operation, nb::handle input, const Call& call) {
  return with_input(operation, input, call,
                    [](auto&& result) { return nb::cast(std::forward<decltype(result)>(result)); });
}

/// Calls `change(x)` with the Tensor or MaskedTensor that a method belongs to.
template <class Change>
void with_self(nb::handle self, const Change& change) {
  if (MaskedTensor* const x = masked_tensor_in(self)) {
    without_gil(x->size(), [&] { change(*x); });
  } else {
    Tensor& tensor = tensor_of(self);
    without_gil(tensor.size(), [&] { change(tensor); });
  }
}

/// What a move made of data and mask of `x`, as one.
inline nb::object joined_object(const MaskedTensor& x, const Tensor& data, const Tensor& mask) {
  return nb::cast(masked::joined(x, data, mask));
}
inline nb::object joined_object(const MaskedTensor& x, const nb::tuple& data,
                                const nb::tuple& masks) {
  nb::list parts;
  for (std::size_t i = 0; i < data.size(); ++i) {
    parts.append(joined_object(x, *tensor_in(data[i]), *tensor_in(masks[i])));
  }
  return nb::tuple(parts);
}

/// `f(input, ...)` for tensors, made to do the same to data and mask of a MaskedTensor.
template <class F, class Result, class... Args>
auto alike(const F& f, Result (F::* /*call*/)(nb::handle, Args...) const) {
  return [f](nb::handle input, Args... args) -> nb::object {
    const MaskedTensor* const x = masked_tensor_in(input);
    if (x == nullptr) return nb::cast(f(input, args...));
    const nb::object data = nb::cast(x->get_data());
    const nb::object mask = nb::cast(x->get_mask());
    return joined_object(*x, f(data, args...), f(mask, args...));
  };
}

// --- definitions ---

inline constexpr std::string_view input_argument = "(input: object";

/// The signature with `input` as self.
inline std::string method_signature(std::string_view name, std::string_view signature) {
  return fmt::format("def {}(self{}", name, signature.substr(input_argument.size()));
}

/// The signature of the same method of a MaskedTensor.
inline std::string for_masked(std::string signature) {
  constexpr std::string_view plain = "Tensor";
  for (std::size_t at = signature.rfind("->");
       (at = signature.find(plain, at)) != std::string::npos; at += sizeof("MaskedTensor") - 1) {
    signature.insert(at, "Masked");
  }
  return signature;
}

/// Adds a method to both classes. `typed` is the signature of the function for tensors, and
/// `typed_masked` that for masked ones.
template <class F, class... Extra>
void define_typed_methods(std::string_view name, const std::string& typed,
                          const std::string& typed_masked, const F& f, const char* summary,
                          const Extra&... extra) {
  const std::string own_name(name);
  const std::string method = method_signature(name, typed);
  nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>())
      .def(own_name.c_str(), f, extra..., nb::sig(method.c_str()), summary);
  const std::string masked_method = method_signature(name, typed_masked);
  nb::borrow<nb::class_<MaskedTensor>>(nb::type<MaskedTensor>())
      .def(own_name.c_str(), f, extra..., nb::sig(masked_method.c_str()), summary);
}
/// The same where a MaskedTensor gives masked results.
template <class F, class... Extra>
void define_methods(std::string_view name, const std::string& typed, const F& f,
                    const char* summary, const Extra&... extra) {
  define_typed_methods(name, typed, for_masked(typed), f, summary, extra...);
}

/// Adds a listed operator to the module. `extra` annotates the arguments.
template <class F, class... Extra>
void define_function(nb::module_& m, const char* name, const F& f, const Extra&... extra) {
  const ops::Function& op = listed(name);
  const std::string signature = fmt::format("def {}{}", op.name, op.signature);
  m.def(op.name, f, extra..., nb::sig(signature.c_str()), op.summary);
}

/// The same for an operator whose first argument is `input: object`: it is a method of Tensor, too.
/// `extra` annotates the other arguments.
template <class F, class... Extra>
void define(nb::module_& m, const char* name, const F& f, const Extra&... extra) {
  define_function(m, name, f, nb::arg("input").none(), extra...);
  const ops::Function& op = listed(name);
  if (op.masks == ops::Masks::taken) {
    return define_methods(op.name, op.signature, f, op.summary, extra...);
  }
  if (op.masks == ops::Masks::read) {
    return define_typed_methods(op.name, op.signature, op.signature, f, op.summary, extra...);
  }
  const std::string method = method_signature(op.name, op.signature);
  auto tensor = nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>());
  tensor.def(op.name, f, extra..., nb::sig(method.c_str()), op.summary);
}

/// The same for an operator that moves elements: `f` is called with the data and with the mask of a
/// MaskedTensor.
template <class F, class... Extra>
void define_alike(nb::module_& m, const char* name, const F& f, const Extra&... extra) {
  if (listed(name).masks != ops::Masks::alike) {
    throw std::logic_error(fmt::format("{} is not listed as one for data and mask alike", name));
  }
  const auto both = alike(f, &F::operator());
  define_function(m, name, both, nb::arg("input").none(), extra...);
  define_methods(name, listed(name).signature, both, listed(name).summary, extra...);
}

/// Adds the method name_() of a listed operator to both classes. `f` takes the handle of a Tensor
/// or MaskedTensor first and writes into it; the method returns the object itself.
template <class F, class... Args, class... Extra>
void define_in_place_call(const char* name, const F& f,
                          void (F::* /*call*/)(nb::handle, Args...) const, const Extra&... extra) {
  const ops::Function& op = listed(name);
  const std::string_view own_name(op.name);
  const std::string method = own_name.back() == '_' ? op.name : fmt::format("{}_", own_name);
  define_methods(
      method, op.signature,
      [f](nb::handle self, Args... args) {
        f(self, args...);
        return nb::borrow(self);
      },
      op.summary, extra...);
}
template <class F, class... Extra>
void define_in_place(const char* name, const F& f, const Extra&... extra) {
  define_in_place_call(name, f, &F::operator(), extra...);
}

}  // namespace loup::python
