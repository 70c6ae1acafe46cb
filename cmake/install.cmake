include(GNUInstallDirs)
install(TARGETS linemate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${PROJECT_SOURCE_DIR}/man/linemate.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# bash-completion looks for a file with the name of the command.
install(FILES ${PROJECT_SOURCE_DIR}/completions/linemate.bash
	DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME linemate)
install(FILES ${PROJECT_SOURCE_DIR}/docs/json.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
