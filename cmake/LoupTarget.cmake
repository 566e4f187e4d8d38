# What every target of ours has in common: the language, hidden symbols, warnings.
function(loup_configure_target target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wconversion
    # In a unity build a local variable may have the name of a function of another source; lint
    # reads each source alone.
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
    # clang reports what std::stable_sort of libstdc++ 12 calls.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
    $<$<BOOL:${LOUP_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()

# Headers of others that most files of a target include; ours are left out, so that a change of
# one rebuilds only what includes it.
function(loup_precompile target)
  if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
