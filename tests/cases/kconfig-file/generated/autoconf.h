#define CONFIG_A 1
#define CONFIG_C_MODULE 1
#define CONFIG_NAME "x"
