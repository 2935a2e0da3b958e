/*
 * settle: how a writer learns its outcome where answers are lost, as Cassandra loses them.
 *
 * A partition has a version. Each write compares it, makes the next one, and hands out its number.
 * A statement, once sent, stays in the network for ever. The store may carry it out late, or try it
 * again. To rerun it is to send the identical statement: it is the same one here. A writer without
 * an answer reads what the store keeps of the last writers' tokens, and concludes: got, lost or
 * unknown.
 */
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef OPS
#define OPS 2 /* operations of a client */
#endif
#ifndef VERSIONS
#define VERSIONS 4 /* the last version */
#endif
#ifndef KEEP
#define KEEP 1 /* the row keeps the tokens of so many last versions */
#endif

/* How a client concludes. */
#define list 1     /* by the token of the version that it wanted to make, while the row keeps it */
#define guess 2    /* its own token is not kept: lost */
#define record 3   /* each batch also inserts a row of its own, read in the same snapshot */
#define recfirst 4 /* the same, but that row is read first, and the version later */
#define rowfirst 5 /* the version is read first, and that row later */
#ifndef RULE
#define RULE list
#endif
#ifndef DECIDES
#define DECIDES 0 /* every outcome can be told: no conclusion is unknown */
#endif

#define none 0
#define reuse 1     /* a client has one token for all its operations */
#define nocompare 2 /* the store does not compare */
#define rebase 3    /* what runs again has the version that was just read, and the old token */
#define delete 4    /* the row is deleted, and begins again at version 0 */
#define eager 5     /* "lost" although the row still stands where it stood */
#define hope 6      /* no answer is taken for a success */
#ifndef MUT
#define MUT none
#endif

#define ALL (CLIENTS * OPS)

typedef Statement {
	byte from; /* the version that it compares */
	byte also; /* rebase: a version that it compares too, and 1 */
	bool sent
}
typedef Client {
	byte op;     /* the one under way, and 1 */
	byte ops;
	byte from;
	byte looked; /* of two reads, what the first one said, and 1 */
}
byte version;
byte made[VERSIONS + 2]; /* by version: the token that made it; 0: none */
short got;               /* versions whose number was handed out */
bool applied[ALL + 1];   /* by token */
bool concludedLost[ALL + 1];
Statement statement[ALL];
Client client[CLIENTS];

hidden byte each, twice, repeated, wrong, lostwrong, undecided;

#define token(i) (MUT == reuse -> 1 + ((i) / OPS) * OPS : 1 + (i))
#define own(c) ((c) * OPS + client[c].op - 1)
#define kept(v) ((v) <= version && version - (v) < KEEP)

inline finish(c) {
	client[c].op = 0;
	client[c].from = 0;
	client[c].looked = 0
}

inline conclude_got(c) {
	/* Invariant repeated: no number is handed out twice. */
	repeated = (got & (1 << (client[c].from + 1))) != 0;
	assert(!repeated);
	/* Invariant wrong: a number is handed out only after the write that took it. */
	wrong = !applied[token(own(c))];
	assert(!wrong);
	got = got | (1 << (client[c].from + 1));
	finish(c)
}

inline conclude_lost(c) {
	/* Invariant lostwrong: what was taken for lost never was carried out, and never will be. */
	concludedLost[token(own(c))] = true;
	lostwrong = applied[token(own(c))];
	assert(!lostwrong);
	finish(c)
}

inline conclude_unknown(c) {
	/* Invariant undecided, where DECIDES: every outcome can be told. */
	undecided = DECIDES;
	assert(!undecided);
	finish(c)
}

/* The statement is carried out. */
inline apply(i, at) {
	version = at + 1;
	/* Invariant twice: no operation is carried out twice. */
	twice = applied[token(i)] && MUT != reuse && MUT != nocompare;
	assert(!twice);
	lostwrong = concludedLost[token(i)];
	assert(!lostwrong);
	applied[token(i)] = true;
	made[version] = token(i)
}

proctype Writer(byte c) {
end:	do
	:: atomic { client[c].op == 0 && client[c].ops < OPS && version < VERSIONS ->
		/* kv: Commit sends. */
		each = c * OPS + client[c].ops;
		statement[each].from = version;
		statement[each].sent = true;
		client[c].from = version;
		client[c].ops++;
		client[c].op = client[c].ops
	}
	:: atomic { client[c].op != 0 -> /* it reads, at SERIAL */
		if
		:: MUT == hope -> conclude_got(c)
		:: RULE == list && version > client[c].from && kept(client[c].from + 1) ->
			if
			:: made[client[c].from + 1] == token(own(c)) -> conclude_got(c)
			:: else -> conclude_lost(c)
			fi
		:: RULE == list && version > client[c].from && !kept(client[c].from + 1) ->
			conclude_unknown(c)
		:: RULE == guess ->
			for (each : 1 .. VERSIONS + 1) {
				if
				:: kept(each) && made[each] == token(own(c)) -> break
				:: else
				fi
			}
			if
			:: each <= VERSIONS + 1 -> conclude_got(c)
			:: else ->
				if
				:: version > client[c].from || MUT == eager -> conclude_lost(c)
				:: else /* it has not moved: the identical statement runs again */
				fi
			fi
		:: RULE == record ->
			if
			:: applied[token(own(c))] -> conclude_got(c)
			:: else ->
				if
				:: version > client[c].from || MUT == eager -> conclude_lost(c)
				:: else
				fi
			fi
		:: RULE >= recfirst && client[c].looked == 0 -> /* the first read */
			client[c].looked = 1 + (RULE == recfirst -> applied[token(own(c))] :
				version > client[c].from)
		:: RULE >= recfirst && client[c].looked != 0 -> /* the second read */
			if
			:: RULE == recfirst && client[c].looked == 2 ||
				RULE == rowfirst && applied[token(own(c))] -> conclude_got(c)
			:: else ->
				if
				:: RULE == recfirst && version > client[c].from ||
					RULE == rowfirst && client[c].looked == 2 -> conclude_lost(c)
				:: else -> client[c].looked = 0
				fi
			fi
		:: else
		fi
	}
	:: atomic { MUT == rebase && client[c].op != 0 && version < VERSIONS &&
		version > client[c].from ->
		each = own(c);
		client[c].from = version;
		statement[each].also = version + 1
	}
	od
}

#define matches(at) (version == (at) || MUT == nocompare)

proctype Network(byte i) {
	byte at;
end:	do
	:: atomic { statement[i].sent ->
		at = statement[i].from;
		if
		:: skip
		:: statement[i].also != 0 -> at = statement[i].also - 1
		fi;
		if
		:: matches(at) ->
			apply(i, at);
			if
			:: skip /* the answer is lost */
			:: client[i / OPS].op == i % OPS + 1 && client[i / OPS].from == at ->
				conclude_got(i / OPS) /* the answer */
			fi
		:: else
		fi;
		at = 0
	}
	od
}

proctype Cleaner() {
end:	do
	:: atomic { MUT == delete && version > 0 -> version = 0 }
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. CLIENTS - 1) { run Writer(i) }
		for (i : 0 .. ALL - 1) { run Network(i) }
		run Cleaner();
		i = 0
	}
}
