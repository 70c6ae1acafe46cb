struct s { long *table; };
