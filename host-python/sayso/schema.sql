-- The ledger, version 1. Entries are numbered from 1 without a gap, and never changed.
-- The columns of `entries` that a hash covers: seq, prev_hash, event_id, session, kind, at, row, commitment.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,  -- origin, predecessor, dropped_before
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
  seq        INTEGER PRIMARY KEY,
  event_id   TEXT NOT NULL UNIQUE,
  session    TEXT NOT NULL,
  kind       TEXT NOT NULL,
  at         INTEGER NOT NULL,  -- milliseconds since 1970-01-01 UTC
  row        TEXT NOT NULL,     -- JSON that only the engine reads
  commitment BLOB NOT NULL,     -- to the body; empty when there never was one
  prev_hash  BLOB NOT NULL,
  hash       BLOB NOT NULL,
  seal       BLOB NOT NULL      -- 8 bytes that name the key, 32 bytes of HMAC over `hash`
) STRICT;

CREATE INDEX entries_of_session ON entries (session, seq);
CREATE INDEX writes ON entries (seq) WHERE kind = 'write';

-- What may be dropped: the text that later checks need, and the salt of its commitment.
CREATE TABLE bodies (
  seq  INTEGER PRIMARY KEY,
  salt BLOB NOT NULL,
  body TEXT NOT NULL
) STRICT;

-- The inner nodes of the Merkle tree that are complete; level 0, the leaves, follows from `entries.hash`.
CREATE TABLE nodes (
  level  INTEGER NOT NULL,
  number INTEGER NOT NULL,
  hash   BLOB NOT NULL,
  PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;

-- Which session continues which.
CREATE TABLE sessions (
  session TEXT PRIMARY KEY,
  parent  TEXT NOT NULL,
  seal    BLOB NOT NULL
) STRICT, WITHOUT ROWID;
