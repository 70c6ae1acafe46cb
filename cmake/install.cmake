install(TARGETS linemate RUNTIME)
