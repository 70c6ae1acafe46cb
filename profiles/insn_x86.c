/*
 * insn_x86.c - x86-64: from capstone's operands to ours.
 *
 * Operands come in Intel's order, the destination first.  One that is memory
 * and stands first is read, written or both as the table says; one that stands
 * later is read.
 */
#include "profiles/insn_private.h"

enum access { DEFAULT, WRITE, READ, BOTH, ADDRESS_ONLY };

static uint8_t reg_of(unsigned r)
{
	switch (r) {
#define R(n, q, d, w, b) case X86_REG_##q: case X86_REG_##d: case X86_REG_##w: case X86_REG_##b: return n;
	R(0, RAX, EAX, AX, AL) R(1, RDX, EDX, DX, DL) R(2, RCX, ECX, CX, CL) R(3, RBX, EBX, BX, BL)
	R(4, RSI, ESI, SI, SIL) R(5, RDI, EDI, DI, DIL) R(6, RBP, EBP, BP, BPL) R(7, RSP, ESP, SP, SPL)
	R(8, R8, R8D, R8W, R8B) R(9, R9, R9D, R9W, R9B) R(10, R10, R10D, R10W, R10B)
	R(11, R11, R11D, R11W, R11B) R(12, R12, R12D, R12W, R12B) R(13, R13, R13D, R13W, R13B)
	R(14, R14, R14D, R14W, R14B) R(15, R15, R15D, R15W, R15B)
#undef R
	case X86_REG_AH: return 0;
	case X86_REG_DH: return 1;
	case X86_REG_CH: return 2;
	case X86_REG_BH: return 3;
	default: return LM_NO_REG;
	}
}

static uint8_t width_of(const cs_x86_op *op)
{
	return op->size;
}

/* How the first operand is accessed, where it is memory. */
static enum access first_access(unsigned id)
{
	switch (id) {
	case X86_INS_MOV: case X86_INS_MOVABS: case X86_INS_MOVNTI: case X86_INS_MOVBE: case X86_INS_POP:
	case X86_INS_STOSB: case X86_INS_STOSW: case X86_INS_STOSD: case X86_INS_STOSQ:
	case X86_INS_MOVSB: case X86_INS_MOVSW: case X86_INS_MOVSD: case X86_INS_MOVSQ:
	case X86_INS_MOVAPS: case X86_INS_MOVAPD: case X86_INS_MOVUPS: case X86_INS_MOVUPD: case X86_INS_MOVDQA:
	case X86_INS_MOVDQU: case X86_INS_MOVSS: case X86_INS_MOVD: case X86_INS_MOVQ: case X86_INS_MOVLPS:
	case X86_INS_MOVHPS: case X86_INS_MOVLPD: case X86_INS_MOVHPD: case X86_INS_MOVNTPS:
	case X86_INS_MOVNTDQ: case X86_INS_VMOVAPS: case X86_INS_VMOVUPS: case X86_INS_VMOVDQA:
	case X86_INS_VMOVDQU: case X86_INS_VMOVAPD: case X86_INS_VMOVUPD: case X86_INS_VMOVQ: case X86_INS_VMOVD:
	case X86_INS_VMOVSS: case X86_INS_VMOVSD:
	case X86_INS_FST: case X86_INS_FSTP: case X86_INS_FIST: case X86_INS_FISTP: case X86_INS_FISTTP:
	case X86_INS_STMXCSR: case X86_INS_FXSAVE: case X86_INS_FXSAVE64: case X86_INS_XSAVE: case X86_INS_XSAVE64:
	case X86_INS_XSAVEC: case X86_INS_XSAVEC64: case X86_INS_XSAVEOPT: case X86_INS_XSAVEOPT64:
	case X86_INS_XSAVES: case X86_INS_XSAVES64: case X86_INS_FNSTCW: case X86_INS_FNSTSW:
	case X86_INS_SGDT: case X86_INS_SIDT: case X86_INS_SLDT: case X86_INS_STR: case X86_INS_SMSW:
	case X86_INS_SETA: case X86_INS_SETAE: case X86_INS_SETB: case X86_INS_SETBE: case X86_INS_SETE:
	case X86_INS_SETG: case X86_INS_SETGE: case X86_INS_SETL: case X86_INS_SETLE: case X86_INS_SETNE:
	case X86_INS_SETNO: case X86_INS_SETNP: case X86_INS_SETNS: case X86_INS_SETO: case X86_INS_SETP:
	case X86_INS_SETS:
		return WRITE;
	case X86_INS_CMP: case X86_INS_TEST: case X86_INS_PUSH: case X86_INS_CALL: case X86_INS_JMP: case X86_INS_BT:
	case X86_INS_MUL: case X86_INS_DIV: case X86_INS_IDIV: case X86_INS_IMUL:
	case X86_INS_FLD: case X86_INS_FILD: case X86_INS_FADD: case X86_INS_FMUL: case X86_INS_FSUB:
	case X86_INS_FDIV: case X86_INS_FIADD: case X86_INS_FIMUL: case X86_INS_FLDCW: case X86_INS_FCOM:
	case X86_INS_FCOMP: case X86_INS_LDMXCSR: case X86_INS_FXRSTOR: case X86_INS_FXRSTOR64:
	case X86_INS_XRSTOR: case X86_INS_XRSTOR64: case X86_INS_XRSTORS: case X86_INS_XRSTORS64:
	case X86_INS_LGDT: case X86_INS_LIDT: case X86_INS_LLDT: case X86_INS_LTR: case X86_INS_LMSW:
	case X86_INS_CMPSB: case X86_INS_CMPSW: case X86_INS_CMPSD: case X86_INS_CMPSQ:
	case X86_INS_LODSB: case X86_INS_LODSW: case X86_INS_LODSD: case X86_INS_LODSQ:
	case X86_INS_SCASB: case X86_INS_SCASW: case X86_INS_SCASD: case X86_INS_SCASQ:
	case X86_INS_OUTSB: case X86_INS_OUTSW: case X86_INS_OUTSD: case X86_INS_UCOMISS: case X86_INS_UCOMISD:
		return READ;
	case X86_INS_ADD: case X86_INS_SUB: case X86_INS_ADC: case X86_INS_SBB: case X86_INS_AND: case X86_INS_OR:
	case X86_INS_XOR: case X86_INS_INC: case X86_INS_DEC: case X86_INS_NEG: case X86_INS_NOT: case X86_INS_SHL:
	case X86_INS_SHR: case X86_INS_SAR: case X86_INS_SAL: case X86_INS_ROL: case X86_INS_ROR: case X86_INS_RCL:
	case X86_INS_RCR: case X86_INS_SHLD: case X86_INS_SHRD: case X86_INS_BTS: case X86_INS_BTR: case X86_INS_BTC:
	case X86_INS_XADD: case X86_INS_XCHG: case X86_INS_CMPXCHG: case X86_INS_CMPXCHG8B: case X86_INS_CMPXCHG16B:
		return BOTH;
	case X86_INS_LEA: case X86_INS_NOP: case X86_INS_PREFETCH: case X86_INS_PREFETCHNTA:
	case X86_INS_PREFETCHT0: case X86_INS_PREFETCHT1: case X86_INS_PREFETCHT2: case X86_INS_PREFETCHW:
	case X86_INS_CLFLUSH: case X86_INS_CLFLUSHOPT: case X86_INS_CLWB: case X86_INS_INVLPG: case X86_INS_UD0:
		return ADDRESS_ONLY;
	default:
		return DEFAULT;
	}
}

static struct lm_operand operand(const cs_insn *in, const cs_x86_op *op)
{
	struct lm_operand m = {
		.base = reg_of(op->mem.base), .index = reg_of(op->mem.index), .scale = 1, .disp = op->mem.disp,
		.per_cpu = op->mem.segment == X86_REG_GS, .tls = op->mem.segment == X86_REG_FS,
		.extend = 8, .size = op->size,
	};

	if (m.index != LM_NO_REG)
		m.scale = (uint8_t)op->mem.scale;
	if (op->mem.base == X86_REG_RIP || op->mem.base == X86_REG_EIP)
		m.disp += (int64_t)(in->address + in->size);
	return m;
}

static void set_access(struct lm_operand *m, unsigned id, unsigned at, unsigned flags)
{
	enum access a = at ? READ : first_access(id);

	if (at && (id == X86_INS_XCHG || id == X86_INS_XADD))
		a = BOTH;
	if (a == DEFAULT)
		a = flags == CS_AC_WRITE ? WRITE : flags == (CS_AC_READ | CS_AC_WRITE) ? BOTH : READ;
	m->read = a == READ || a == BOTH;
	m->write = a == WRITE || a == BOTH;
}

static bool is_string(unsigned id)
{
	switch (id) {
	case X86_INS_STOSB: case X86_INS_STOSW: case X86_INS_STOSD: case X86_INS_STOSQ:
	case X86_INS_MOVSB: case X86_INS_MOVSW: case X86_INS_MOVSD: case X86_INS_MOVSQ:
	case X86_INS_CMPSB: case X86_INS_CMPSW: case X86_INS_CMPSD: case X86_INS_CMPSQ:
	case X86_INS_LODSB: case X86_INS_LODSW: case X86_INS_LODSD: case X86_INS_LODSQ:
	case X86_INS_SCASB: case X86_INS_SCASW: case X86_INS_SCASD: case X86_INS_SCASQ:
		return true;
	default:
		return false;
	}
}

/* What capstone has wrong. */
static uint32_t size_of(unsigned id, uint32_t size)
{
	switch (id) {
	case X86_INS_CMPXCHG16B:
		return 16;
	case X86_INS_COMISS: case X86_INS_UCOMISS: case X86_INS_VCOMISS: case X86_INS_VUCOMISS:
		return 4;
	case X86_INS_COMISD: case X86_INS_UCOMISD: case X86_INS_VCOMISD: case X86_INS_VUCOMISD:
		return 8;
	default:
		return size;
	}
}

static void memory(const cs_insn *in, struct lm_insn *out)
{
	const cs_x86 *x = &in->detail->x86;

	for (unsigned i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];
		struct lm_operand m;

		if (op->type != X86_OP_MEM || in->id == X86_INS_NOP)
			continue;
		m = operand(in, op);
		if (first_access(in->id) == ADDRESS_ONLY) {
			out->ea = m;
			continue;
		}
		set_access(&m, in->id, i, op->access);
		m.size = size_of(in->id, m.size);
		m.repeat = is_string(in->id) && (x->prefix[0] == X86_PREFIX_REP || x->prefix[0] == X86_PREFIX_REPNE);
		if (out->nr_mem < LM_MAX_MEM)
			out->mem[out->nr_mem++] = m;
	}
}

static void stack_operand(struct lm_insn *out, bool write)
{
	if (out->nr_mem < LM_MAX_MEM)
		out->mem[out->nr_mem++] = (struct lm_operand){
			.base = 7, .index = LM_NO_REG, .scale = 1, .stack = true, .read = !write, .write = write,
			.extend = 8, .disp = write ? -8 : 0, .size = 8,
		};
}

static bool is_cmov(unsigned id)
{
	switch (id) {
	case X86_INS_CMOVA: case X86_INS_CMOVAE: case X86_INS_CMOVB: case X86_INS_CMOVBE: case X86_INS_CMOVE:
	case X86_INS_CMOVG: case X86_INS_CMOVGE: case X86_INS_CMOVL: case X86_INS_CMOVLE: case X86_INS_CMOVNE:
	case X86_INS_CMOVNO: case X86_INS_CMOVNP: case X86_INS_CMOVNS: case X86_INS_CMOVO: case X86_INS_CMOVP:
	case X86_INS_CMOVS:
		return true;
	default:
		return false;
	}
}

/* mov, lea, cmov and the like: dst from one source. */
static void moves(const cs_x86 *x, struct lm_insn *out, bool select)
{
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];

	if (to->type == X86_OP_MEM) {
		out->effect = LM_EFF_STORE;
		out->src = from->type == X86_OP_REG ? reg_of(from->reg) : LM_NO_REG;
		out->imm = from->type == X86_OP_IMM ? from->imm : 0;
		if (from->type == X86_OP_REG && out->src == LM_NO_REG)
			out->effect = LM_EFF_NONE; /* a vector or segment register: its slot is not known */
		return;
	}
	out->dst = reg_of(to->reg);
	if (out->dst == LM_NO_REG)
		return;
	out->width = width_of(to);
	if (from->type == X86_OP_MEM) {
		out->effect = select ? LM_EFF_SELECT_MEM : LM_EFF_LOAD;
	} else if (from->type == X86_OP_IMM) {
		out->effect = LM_EFF_CONST;
		out->imm = from->imm;
	} else if (reg_of(from->reg) != LM_NO_REG) {
		out->effect = select ? LM_EFF_SELECT : LM_EFF_MOVE;
		out->src = reg_of(from->reg);
		if (select)
			out->src2 = out->dst;
	}
}

static void arithmetic(unsigned id, const cs_x86 *x, struct lm_insn *out)
{
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];

	if (to->type != X86_OP_REG || reg_of(to->reg) == LM_NO_REG)
		return;
	out->dst = out->src = reg_of(to->reg);
	out->width = width_of(to);
	if (from->type == X86_OP_IMM) {
		out->imm = id == X86_INS_SUB ? -from->imm : from->imm;
		out->effect = id == X86_INS_AND ? LM_EFF_ALIGN : LM_EFF_ADD_IMM;
	} else if (from->type == X86_OP_REG && id != X86_INS_AND) {
		out->src2 = reg_of(from->reg);
		out->effect = id == X86_INS_SUB ? LM_EFF_SUB : LM_EFF_ADD;
	} else if (from->type == X86_OP_MEM && id == X86_INS_ADD) {
		out->effect = LM_EFF_ADD_MEM;
	}
}

static void scales(unsigned id, const cs_x86 *x, struct lm_insn *out)
{
	const cs_x86_op *to = &x->operands[0];

	if (to->type != X86_OP_REG)
		return;
	out->dst = reg_of(to->reg);
	out->width = width_of(to);
	if (id == X86_INS_IMUL && x->op_count == 3 && x->operands[1].type == X86_OP_REG) {
		out->src = reg_of(x->operands[1].reg);
		out->imm = x->operands[2].imm;
		out->effect = LM_EFF_SCALE;
	} else if (id != X86_INS_IMUL && x->op_count == 2 && x->operands[1].type == X86_OP_IMM &&
		   x->operands[1].imm > 0 && x->operands[1].imm < 32) {
		out->src = out->dst;
		out->imm = INT64_C(1) << x->operands[1].imm;
		out->effect = LM_EFF_SCALE;
	}
}

static void xors(const cs_x86 *x, struct lm_insn *out)
{
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];

	if (to->type == X86_OP_REG && from->type == X86_OP_REG && to->reg == from->reg && to->size >= 4) {
		out->dst = reg_of(to->reg);
		out->width = 8;
		out->effect = LM_EFF_CONST;
	}
}

static void exchanges(const cs_x86 *x, struct lm_insn *out)
{
	const cs_x86_op *a = &x->operands[0], *b = &x->operands[1];

	if (a->type == X86_OP_REG && b->type == X86_OP_REG) {
		out->effect = LM_EFF_XCHG;
		out->dst = reg_of(a->reg);
		out->src = reg_of(b->reg);
		out->width = width_of(a);
	} else if (out->nr_mem) {
		/* The register gets what was in memory; what memory gets is forgotten, too little depends on it. */
		out->effect = LM_EFF_LOAD;
		out->dst = reg_of(a->type == X86_OP_REG ? a->reg : b->reg);
		out->width = width_of(a);
	}
}

static void stack_effect(const cs_insn *in, struct lm_insn *out)
{
	const cs_x86_op *op = &in->detail->x86.operands[0];

	switch (in->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
		out->effect = LM_EFF_PUSH;
		out->src = in->id == X86_INS_PUSH && op->type == X86_OP_REG ? reg_of(op->reg) : LM_NO_REG;
		stack_operand(out, true);
		break;
	case X86_INS_POP:
	case X86_INS_POPFQ:
		out->effect = LM_EFF_POP;
		out->dst = in->id == X86_INS_POP && op->type == X86_OP_REG ? reg_of(op->reg) : LM_NO_REG;
		out->width = 8;
		stack_operand(out, false);
		break;
	default:
		out->effect = LM_EFF_LEAVE;
		stack_operand(out, false);
		out->mem[0].base = 6;
		break;
	}
}

static void effects(const cs_insn *in, struct lm_insn *out)
{
	const cs_x86 *x = &in->detail->x86;

	switch (in->id) {
	case X86_INS_MOV: case X86_INS_MOVABS: case X86_INS_MOVSXD: case X86_INS_MOVZX: case X86_INS_MOVSX:
		moves(x, out, false);
		if (in->id == X86_INS_MOVSXD || in->id == X86_INS_MOVZX || in->id == X86_INS_MOVSX)
			out->width = x->operands[1].size;
		break;
	case X86_INS_CDQE:
		out->dst = out->src = 0;
		out->width = 4;
		out->effect = LM_EFF_MOVE;
		break;
	case X86_INS_LEA:
		out->dst = reg_of(x->operands[0].reg);
		out->width = width_of(&x->operands[0]);
		out->effect = LM_EFF_LEA;
		break;
	case X86_INS_ADD: case X86_INS_SUB: case X86_INS_AND:
		arithmetic(in->id, x, out);
		break;
	case X86_INS_INC: case X86_INS_DEC:
		if (x->operands[0].type == X86_OP_REG) {
			out->dst = out->src = reg_of(x->operands[0].reg);
			out->width = width_of(&x->operands[0]);
			out->imm = in->id == X86_INS_INC ? 1 : -1;
			out->effect = LM_EFF_ADD_IMM;
		}
		break;
	case X86_INS_SHL: case X86_INS_SAL: case X86_INS_IMUL:
		scales(in->id, x, out);
		break;
	case X86_INS_XOR:
		xors(x, out);
		break;
	case X86_INS_XCHG: case X86_INS_XADD:
		exchanges(x, out);
		break;
	case X86_INS_PUSH: case X86_INS_PUSHFQ: case X86_INS_POP: case X86_INS_POPFQ: case X86_INS_LEAVE:
		stack_effect(in, out);
		break;
	default:
		if (is_cmov(in->id))
			moves(x, out, true);
		/* cmpxchg: rax holds the old value afterwards, whether it was stored or not. */
		if (in->id == X86_INS_CMPXCHG && out->nr_mem) {
			out->effect = LM_EFF_LOAD;
			out->dst = 0;
			out->width = (uint8_t)out->mem[0].size;
		}
		break;
	}
}

static void branches(const cs_insn *in, struct lm_insn *out)
{
	const cs_x86 *x = &in->detail->x86;
	bool known = x->op_count && x->operands[0].type == X86_OP_IMM;
	uint64_t to = known ? (uint64_t)x->operands[0].imm : 0;

	switch (in->id) {
	case X86_INS_CALL:
		out->branch = LM_BR_CALL;
		out->target = to;
		stack_operand(out, true);
		return;
	case X86_INS_JMP:
		out->branch = known ? LM_BR_JUMP : LM_BR_INDIRECT;
		out->target = to;
		if (x->op_count && x->operands[0].type == X86_OP_REG)
			out->src = reg_of(x->operands[0].reg);
		return;
	case X86_INS_RET: case X86_INS_RETF: case X86_INS_RETFQ:
		out->branch = LM_BR_RETURN;
		stack_operand(out, false);
		return;
	case X86_INS_IRET: case X86_INS_IRETD: case X86_INS_IRETQ: case X86_INS_SYSRET: case X86_INS_SYSEXIT:
		out->branch = LM_BR_RETURN;
		return;
	case X86_INS_UD2: case X86_INS_HLT: case X86_INS_INT3: case X86_INS_UD0:
		out->branch = in->id == X86_INS_HLT ? LM_BR_NONE : LM_BR_STOP;
		return;
	default:
		if (known && (in->id == X86_INS_JCXZ || in->id == X86_INS_JECXZ || in->id == X86_INS_JRCXZ ||
			      in->id == X86_INS_LOOP || in->id == X86_INS_LOOPE || in->id == X86_INS_LOOPNE ||
			      in->mnemonic[0] == 'j')) {
			out->branch = LM_BR_COND;
			out->target = to;
		}
	}
}

void lm_insn_x86(csh handle, const cs_insn *in, struct lm_insn *out)
{
	memory(in, out);
	effects(in, out);
	branches(in, out);
	/* nop with an operand reads and writes nothing; capstone lists its registers. */
	if (in->id == X86_INS_NOP)
		return;
	lm_insn_clobbers(handle, in, reg_of, out);
	/* Not in every table of capstone: cpuid, rdtsc, rdmsr, mul and div leave results in eax and edx. */
	if (in->id == X86_INS_CPUID)
		out->clobbers |= 0xf;
	if (in->id == X86_INS_RDTSC || in->id == X86_INS_RDMSR || in->id == X86_INS_RDPMC || in->id == X86_INS_MUL ||
	    in->id == X86_INS_DIV || in->id == X86_INS_IDIV || in->id == X86_INS_CMPXCHG16B ||
	    (in->id == X86_INS_IMUL && in->detail->x86.op_count == 1))
		out->clobbers |= 0x3;
	if (in->id == X86_INS_SYSCALL)
		out->clobbers |= 0x805;
}
