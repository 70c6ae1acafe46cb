#ifndef __LINUX_KCONFIG_H
#define __LINUX_KCONFIG_H

/* Comes first in every compilation: -include linux/kconfig.h */
#include "../generated/autoconf.h"

#endif
