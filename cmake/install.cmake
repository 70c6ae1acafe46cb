include(GNUInstallDirs)
install(TARGETS linemate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# A manual page a command; a new page needs no edit here.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# bash-completion looks for a file with the name of the command, zsh for one with _ before it.
install(FILES ${PROJECT_SOURCE_DIR}/completions/linemate.bash
	DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME linemate)
install(FILES ${PROJECT_SOURCE_DIR}/completions/_linemate
	DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})

# ---- `cpack -G DEB` in the build folder makes a Debian package ----
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "linemate maintainers <maintainers@linemate.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tell which fields of a C struct share a cache line")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"linemate reads a struct from its header, as the compiler sees it in each
configuration, and a profile of who read and wrote its fields (perf mem, perf
c2c, perf script, valgrind). It finds the fields of one cache line that CPUs
contend for and prints a patch that takes them apart without making the struct
larger, checked with gcc and clang.")
# Libraries are found by what the program is linked to; libclang needs its own headers beside it, and a
# patch is compiled before it is shown.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gcc | clang")
string(REGEX MATCH "llvm-([0-9]+)" llvm "${CLANG_ROOT}")
if(CMAKE_MATCH_1)
	string(PREPEND CPACK_DEBIAN_PACKAGE_DEPENDS "libclang-common-${CMAKE_MATCH_1}-dev, ")
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc, clang, git")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "linux-perf, valgrind")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian.cmake)
include(CPack)
