-- Why: a passage has some 280 words and stems, and each of them was entered by itself: 150 KB in the log of the database for each passage. Entries now
-- wait in a short list and are entered together, each word once. Whoever stores passages empties the list, so that no search reads it later.

-- In kB: the words of some 70 passages. A search beside an upload goes through them one by one.
alter index knowledge_passages_words set (fastupdate = on, gin_pending_list_limit = 512);

-- Only the owner of an index may empty its list.
create function flush_knowledge_passages() returns void
language sql security definer
set search_path = pg_catalog, public, pg_temp
as $$ select gin_clean_pending_list('public.knowledge_passages_words'::regclass) $$;
comment on function flush_knowledge_passages() is
  'Enters the words that wait into the index of the passages. On Citus the lists of the workers are left to their limit and to autovacuum';
revoke execute on function flush_knowledge_passages() from public;
grant execute on function flush_knowledge_passages() to guildhall_app;
