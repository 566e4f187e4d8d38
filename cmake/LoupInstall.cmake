# Installs three components: runtime (the shared library), dev (headers, CMake package,
# pkg-config file) and cli (the command line tool). The installed tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/loup")

install(TARGETS loup EXPORT loup
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT loup NAMESPACE loup:: FILE loupTargets.cmake
  DESTINATION ${package_dir} COMPONENT dev)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/loup" "${PROJECT_BINARY_DIR}/include/loup"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/loupConfig.cmake.in" "${PROJECT_BINARY_DIR}/loupConfig.cmake"
  INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/loupConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/loupConfig.cmake" "${PROJECT_BINARY_DIR}/loupConfigVersion.cmake"
  DESTINATION ${package_dir} COMPONENT dev)

file(RELATIVE_PATH prefix_from_pkgconfig
  "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig "${prefix_from_pkgconfig}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/loup.pc.in" "${PROJECT_BINARY_DIR}/loup.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/loup.pc"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

if(LOUP_BUILD_CLI)
  file(RELATIVE_PATH lib_from_bin "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(loup_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
  install(TARGETS loup_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)
endif()
