/*
 * glpk.c - the only door to GLPK, and the only setjmp.
 *
 * GLPK reports wrong arguments and exhausted memory by printing and abort().
 * Its hooks let us catch the text and jump out; after that nothing of its
 * thread-local environment may be used again, so it is freed whole.
 */
#include "optimizer/solver.h"

#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct lm_lp {
	glp_prob *prob;		/* NULL after an abort */
	uint32_t nr_rows;
	jmp_buf jump;
	char said[256];		/* what GLPK printed last */
	int *index;		/* [nr_rows + 1], scratch of lm_lp_add */
	double *value;
};

/* Non-zero: GLPK prints nothing itself. */
static int keep_text(void *info, const char *text)
{
	struct lm_lp *lp = info;
	size_t len = strlen(lp->said), more = strcspn(text, "\n");

	if (len + more + 2 < sizeof(lp->said)) {
		if (len && more)
			lp->said[len++] = ' ';
		memcpy(lp->said + len, text, more);
		lp->said[len + more] = '\0';
	}
	return 1;
}

static void jump_out(void *info)
{
	struct lm_lp *lp = info;

	longjmp(lp->jump, 1);
}

/* Runs work(lp, arg), which must hold no memory of its own; an abort in it becomes an error. */
static struct lm_err *guarded(struct lm_lp *lp, void (*work)(struct lm_lp *lp, void *arg), void *arg)
{
	if (setjmp(lp->jump)) {
		glp_free_env();
		lp->prob = NULL;
		return lm_err_new(LM_ERR_BUG, "The solver GLPK gave up: %s; please report this with the input.",
				  lp->said[0] ? lp->said : "it did not say why");
	}
	lp->said[0] = '\0';
	glp_term_hook(keep_text, lp);
	glp_error_hook(jump_out, lp);
	work(lp, arg);
	glp_error_hook(NULL, NULL);
	return NULL;
}

static struct lm_err *check_alive(const struct lm_lp *lp)
{
	return lp->prob ? NULL : lm_err_new(LM_ERR_BUG, "The solver GLPK was asked again after it had given up.");
}

struct rows {
	const double *rhs;
	const enum lm_row_sense *sense;
};

static void make_rows(struct lm_lp *lp, void *arg)
{
	const struct rows *r = arg;

	lp->prob = glp_create_prob();
	glp_set_obj_dir(lp->prob, GLP_MIN);
	if (lp->nr_rows)
		glp_add_rows(lp->prob, (int)lp->nr_rows);
	for (uint32_t i = 0; i < lp->nr_rows; i++) {
		int type = r->sense[i] == LM_ROW_EQ ? GLP_FX : r->sense[i] == LM_ROW_LE ? GLP_UP : GLP_LO;

		glp_set_row_bnds(lp->prob, (int)i + 1, type, r->rhs[i], r->rhs[i]);
	}
}

struct lm_err *lm_lp_new(const double *rhs, const enum lm_row_sense *sense, uint32_t nr_rows, struct lm_lp **ret)
{
	struct rows rows = { rhs, sense };

	if (nr_rows > INT32_MAX / 2)
		return lm_err_new(LM_ERR_BUG, "A problem of %u rows is too large for the solver.", nr_rows);
	if (glp_init_env() != 0)
		return lm_err_new(LM_ERR_BUG, "A second problem was opened while the solver GLPK has one.");

	struct lm_lp *lp = calloc(1, sizeof(*lp));

	if (!lp)
		lm_oom();
	lp->nr_rows = nr_rows;
	lp->index = calloc(nr_rows + 1, sizeof(*lp->index));
	lp->value = calloc(nr_rows + 1, sizeof(*lp->value));
	if (!lp->index || !lp->value)
		lm_oom();

	struct lm_err *err = guarded(lp, make_rows, &rows);

	if (err) {
		lm_lp_free(lp);
		return err;
	}
	*ret = lp;
	return NULL;
}

void lm_lp_free(struct lm_lp *lp)
{
	if (!lp)
		return;
	/* Frees the problem too.  After an abort it was done already. */
	if (lp->prob)
		glp_free_env();
	free(lp->index);
	free(lp->value);
	free(lp);
}

struct column {
	double cost;
	const uint32_t *rows;
	const double *values;
	uint32_t nr;
	bool binary;
};

static void add_column(struct lm_lp *lp, void *arg)
{
	const struct column *c = arg;

	for (uint32_t i = 0; i < c->nr; i++) {
		lp->index[i + 1] = (int)c->rows[i] + 1;
		lp->value[i + 1] = c->values[i];
	}

	int j = glp_add_cols(lp->prob, 1);

	glp_set_col_bnds(lp->prob, j, c->binary ? GLP_DB : GLP_LO, 0, c->binary ? 1 : 0);
	glp_set_obj_coef(lp->prob, j, c->cost);
	glp_set_mat_col(lp->prob, j, (int)c->nr, lp->index, lp->value);
}

struct lm_err *lm_lp_add(struct lm_lp *lp, double cost, const uint32_t *rows, const double *values, uint32_t nr,
			 bool binary)
{
	struct column c = { cost, rows, values, nr, binary };
	struct lm_err *err = check_alive(lp);

	if (err)
		return err;
	if (nr > lp->nr_rows)
		return lm_err_new(LM_ERR_BUG, "A column names %u rows of a problem that has %u.", nr, lp->nr_rows);
	return guarded(lp, add_column, &c);
}

struct simplex {
	bool optimal;
};

static void run_simplex(struct lm_lp *lp, void *arg)
{
	struct simplex *s = arg;
	glp_smcp parm;

	glp_init_smcp(&parm);
	parm.msg_lev = GLP_MSG_OFF;
	parm.meth = GLP_PRIMAL;

	int rc = glp_simplex(lp->prob, &parm);

	/* The basis of the last call can have become singular: build a fresh one. */
	if (rc == GLP_EBADB || rc == GLP_ESING || rc == GLP_ECOND || rc == GLP_EFAIL) {
		glp_adv_basis(lp->prob, 0);
		rc = glp_simplex(lp->prob, &parm);
	}
	s->optimal = rc == 0 && glp_get_status(lp->prob) == GLP_OPT;
}

struct lm_err *lm_lp_solve(struct lm_lp *lp, struct lm_lp_result *ret)
{
	struct simplex s = { false };
	struct lm_err *err = check_alive(lp);

	if (!err)
		err = guarded(lp, run_simplex, &s);
	if (err)
		return err;
	ret->optimal = s.optimal;
	if (!s.optimal)
		return NULL;
	ret->value = glp_get_obj_val(lp->prob);
	for (int j = 0; ret->x && j < glp_get_num_cols(lp->prob); j++)
		ret->x[j] = glp_get_col_prim(lp->prob, j + 1);
	for (int i = 0; ret->duals && i < (int)lp->nr_rows; i++)
		ret->duals[i] = glp_get_row_dual(lp->prob, i + 1);
	return NULL;
}

struct branching {
	double seconds;
	bool found;
};

static void run_branching(struct lm_lp *lp, void *arg)
{
	struct branching *b = arg;
	int nr = glp_get_num_cols(lp->prob);
	glp_iocp parm;

	/* Kinds and bounds of the columns come back afterwards: more may be added and the LP solved again. */
	for (int j = 1; j <= nr; j++)
		glp_set_col_kind(lp->prob, j, GLP_BV);
	glp_init_iocp(&parm);
	parm.msg_lev = GLP_MSG_OFF;
	parm.presolve = GLP_ON;
	parm.tm_lim = b->seconds > 1e6 ? INT32_MAX : b->seconds > 0.001 ? (int)(b->seconds * 1000) : 1;

	int rc = glp_intopt(lp->prob, &parm), status = glp_mip_status(lp->prob);

	b->found = (rc == 0 || rc == GLP_ETMLIM) && (status == GLP_OPT || status == GLP_FEAS);
}

static void back_to_linear(struct lm_lp *lp, void *arg)
{
	const int *types = arg;

	for (int j = 1; j <= glp_get_num_cols(lp->prob); j++) {
		glp_set_col_kind(lp->prob, j, GLP_CV);
		glp_set_col_bnds(lp->prob, j, types[j], 0, types[j] == GLP_DB ? 1 : 0);
	}
}

struct lm_err *lm_lp_solve_integer(struct lm_lp *lp, double seconds, struct lm_lp_result *ret)
{
	struct branching b = { seconds, false };
	struct lm_err *err = check_alive(lp);

	if (err)
		return err;

	int nr = glp_get_num_cols(lp->prob);
	int *types = calloc((size_t)nr + 1, sizeof(*types));

	if (!types)
		lm_oom();
	for (int j = 1; j <= nr; j++)
		types[j] = glp_get_col_type(lp->prob, j);
	err = guarded(lp, run_branching, &b);
	if (!err && b.found) {
		ret->value = glp_mip_obj_val(lp->prob);
		for (int j = 0; ret->x && j < nr; j++)
			ret->x[j] = glp_mip_col_val(lp->prob, j + 1) > 0.5 ? 1 : 0;
	}
	if (!err)
		err = guarded(lp, back_to_linear, types);
	if (!err)
		ret->optimal = b.found;
	free(types);
	return err;
}
