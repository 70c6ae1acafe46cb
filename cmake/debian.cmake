# What Debian's policy wants of a package's files: manual pages compressed, a copyright, a changelog.  CPack runs this
# on the tree that it packs (CPACK_PRE_BUILD_SCRIPTS).
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
set(doc ${share}/doc/linemate)
file(GLOB pages ${share}/man/man1/*.1)
if(NOT pages OR NOT IS_DIRECTORY ${doc})
	message(FATAL_ERROR "${share} has no manual pages or no ${doc}")
endif()
file(WRITE ${doc}/changelog "linemate (${CPACK_PACKAGE_VERSION}) unstable; urgency=low

  * Version ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  Mon, 30 Nov 2026 00:00:00 +0000
")
# -n: neither name nor time, so that the same tree gives the same bytes.
execute_process(COMMAND gzip -9n ${pages} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: linemate

Files: *
Copyright: 2026 the authors of linemate
License: GPL-3+
 This program is free software: you can redistribute it and/or modify it under
 the terms of the GNU General Public License as published by the Free Software
 Foundation, either version 3 of the License, or (at your option) any later
 version.
 .
 On Debian systems the text of the license is in
 /usr/share/common-licenses/GPL-3.
")
file(CHMOD_RECURSE ${CPACK_TEMPORARY_DIRECTORY}/usr
	FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
	DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
file(CHMOD ${CPACK_TEMPORARY_DIRECTORY}/usr/bin/linemate
	PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
