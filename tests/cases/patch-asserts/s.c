#include <assert.h>
#include <stddef.h>
#include "s.h"
