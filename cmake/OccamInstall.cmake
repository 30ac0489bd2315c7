# What `make install` puts where, in two parts: the program (with ready-made networks, man page, completion, docs and
# examples) and the library
# for programs in C++ (headers, CMake package, pkg-config). CPack makes a Debian package of each (`make deb`).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(OCCAM_ZSH_FOLDER ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Where zsh looks for completion; for packages of Debian share/zsh/vendor-completions")

# --- the program ---------------------------------------------------------------------------------------------------------
install(TARGETS occam RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

# The program writes its own man page and completion.
set(written ${CMAKE_BINARY_DIR}/written)
set(parts man bash zsh fish)
set(files occam.1 occam _occam occam.fish)
set(folders ${CMAKE_INSTALL_MANDIR}/man1 ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    ${OCCAM_ZSH_FOLDER} ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
set(outputs "")
foreach(part file folder IN ZIP_LISTS parts files folders)
  set(output ${written}/${part}/${file})
  file(MAKE_DIRECTORY ${written}/${part})
  add_custom_command(OUTPUT ${output} COMMAND occam reference ${part} > ${output} DEPENDS occam VERBATIM)
  list(APPEND outputs ${output})
  install(FILES ${output} DESTINATION ${folder} COMPONENT program)
endforeach()
add_custom_target(occam_written ALL DEPENDS ${outputs} COMMENT "Writing the man page and completion")

install(FILES LICENSE README.md CHANGELOG.md packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY networks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/occam/networks COMPONENT program
        FILES_MATCHING PATTERN "*.occam" PATTERN "*.json" PATTERN "*.txt" PATTERN "README.md" PATTERN "work" EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
        PATTERN "__pycache__" EXCLUDE PATTERN "*.occam" EXCLUDE)

# --- the library ---------------------------------------------------------------------------------------------------------
# The libraries that programs have to link beside it; occam_dependencies itself stays behind, it names folders of this
# machine.
target_link_libraries(occam_library PUBLIC $<INSTALL_INTERFACE:Threads::Threads> $<INSTALL_INTERFACE:${CMAKE_DL_LIBS}>)
set(OCCAM_PC_LIBRARIES "-pthread")
set(OCCAM_PC_REQUIRES "")
if(CMAKE_DL_LIBS)
  string(APPEND OCCAM_PC_LIBRARIES " -l${CMAKE_DL_LIBS}")
endif()
if(OCCAM_HWY_LIBRARY)
  target_link_libraries(occam_library PUBLIC $<INSTALL_INTERFACE:hwy>)
  string(APPEND OCCAM_PC_LIBRARIES " -lhwy")
endif()
if(OCCAM_HAS_CUDA)
  string(APPEND OCCAM_PC_LIBRARIES " ${OCCAM_CUDART} -lrt")
endif()
if(ZLIB_FOUND)
  target_link_libraries(occam_library PUBLIC $<INSTALL_INTERFACE:ZLIB::ZLIB>)
  set(OCCAM_PC_REQUIRES "zlib")
endif()
target_include_directories(occam_library PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(occam_library PUBLIC cxx_std_20)
set_target_properties(occam_library PROPERTIES EXPORT_NAME occam)

install(TARGETS occam_library EXPORT occamTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY src/occam DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp"
        PATTERN "test_support.hpp" EXCLUDE PATTERN "engine_cases.hpp" EXCLUDE PATTERN "plain_device.hpp" EXCLUDE
        PATTERN "*reference.hpp" EXCLUDE PATTERN "web" EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/generated/occam/core/version.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/occam/core COMPONENT development)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/occam)
configure_package_config_file(packaging/occamConfig.cmake.in ${CMAKE_BINARY_DIR}/occamConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/occamConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/occamConfig.cmake ${CMAKE_BINARY_DIR}/occamConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)
install(EXPORT occamTargets NAMESPACE occam:: DESTINATION ${package} COMPONENT development)
file(RELATIVE_PATH OCCAM_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # so that the tree may be moved
configure_file(packaging/occam.pc.in ${CMAKE_BINARY_DIR}/occam.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/occam.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# --- Debian packages -----------------------------------------------------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "the occam authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compare models that can only be simulated")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME occam)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "g++, python3-numpy, r-base-core")  # for simulators of the user's own
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program: which of several simulation models do the data support?")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liboccam-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, nlohmann-json3-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The library that the program occam is made of, for programs in C++.")
if(OCCAM_HWY_LIBRARY)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libhwy-dev")
endif()
if(ZLIB_FOUND)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", zlib1g-dev")
endif()
include(CPack)
