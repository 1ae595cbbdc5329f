-- Why: reading a file has a short first attempt. What does not end in it is read in a lane of its own, so that it holds up no other file. Any
-- process may do that, so the row says it.

alter table knowledge_sources add column is_slow boolean not null default false;
comment on column knowledge_sources.is_slow is 'The first attempt to read it was too short: it is read in the slow lane';
