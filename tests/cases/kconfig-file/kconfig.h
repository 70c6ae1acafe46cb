#include <generated/autoconf.h>
