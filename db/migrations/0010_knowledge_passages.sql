-- Why: the passages of knowledge sources, and what their search needs: an inverted index, the words there are (for typing errors,
-- inflections and how telling a word is), and vectors where a model for them is configured.

create extension if not exists unaccent;
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Only the distance between two vectors is wanted of it, and that can wait: it may be installed at any later time.
do $$
begin
  if exists (select from pg_available_extensions where name = 'vector') then
    create extension if not exists vector;
  end if;
exception when insufficient_privilege then
  raise notice 'The extension vector is there, and this login may not create it: vectors are compared without it';
end
$$;

create table knowledge_passages (
  workspace_id uuid not null,
  source_id uuid not null,
  seq int not null check (seq >= 0),
  heading text,
  page int check (page >= 1),
  content text not null,
  words tsvector not null,
  primary key (workspace_id, source_id, seq),
  constraint knowledge_passages_source_fkey foreign key (workspace_id, source_id)
    references knowledge_sources (workspace_id, id) on delete cascade
) with (toast_tuple_target = 8160); -- a search reads thousands of `words`, which would otherwise be fetched one by one from beside the table
comment on table knowledge_passages is 'Replaced as a whole, with knowledge_words, when a source is processed';
comment on column knowledge_passages.words is 'Words of heading (label C) and content (label D) as runtime/knowledge/terms.ts cuts them';
-- The workspace as text, which the primary key has not: a search that asks for it so can use no other index, whatever the statistics
-- say, and right after an upload they say nothing. Without fastupdate: searches would go through what was added last one by one,
-- until the next vacuum.
create index knowledge_passages_words on knowledge_passages using gin ((workspace_id::text), words) with (fastupdate = off);
select protect_tenant_table('knowledge_passages');

create table knowledge_words (
  workspace_id uuid not null references workspaces (id),
  word text collate "C" not null check (octet_length(word) <= 1000),
  shape text not null,
  passages int not null,
  primary key (workspace_id, word)
) with (fillfactor = 60); -- counts change with every source: room beside a row lets its indexes alone
comment on column knowledge_words.word is 'The empty word stands for all passages of the workspace';
comment on column knowledge_words.shape is
  'The word with an ASCII letter or digit for each other letter: pg_trgm sees letters of the database''s locale only, and in C there are no others. Empty: has no words like it';
comment on column knowledge_words.passages is 'How many passages have the word; stays too high where passages went with their source''s row';
create index knowledge_words_similar on knowledge_words using gin ((workspace_id::text), shape gin_trgm_ops) with (gin_pending_list_limit = 512);
select protect_tenant_table('knowledge_words');

create table knowledge_embeddings (
  workspace_id uuid not null,
  source_id uuid not null,
  model text not null check (char_length(model) between 1 and 300),
  dimensions int not null check (dimensions between 1 and 16000),
  primary key (workspace_id, source_id),
  constraint knowledge_embeddings_source_fkey foreign key (workspace_id, source_id)
    references knowledge_sources (workspace_id, id) on delete cascade
);
comment on table knowledge_embeddings is 'Which model the vectors of a source are from; only vectors of one model can be compared';
comment on column knowledge_embeddings.model is 'As configured: provider/model';
select protect_tenant_table('knowledge_embeddings');

create table knowledge_vectors (
  workspace_id uuid not null,
  source_id uuid not null,
  seq int not null,
  signs bit varying not null,
  vector real[] not null,
  primary key (workspace_id, source_id, seq),
  constraint knowledge_vectors_embedding_fkey foreign key (workspace_id, source_id)
    references knowledge_embeddings (workspace_id, source_id) on delete cascade
);
comment on column knowledge_vectors.signs is 'One bit a dimension, 1 = positive: a first, cheap measure of nearness';
comment on column knowledge_vectors.vector is 'Of length 1. Beside the table and not compressed: a search reads the signs of all and the vectors of few';
alter table knowledge_vectors alter vector set storage external;
select protect_tenant_table('knowledge_vectors');

-- Under row-level security PostgreSQL evaluates the policy first and @@ or % after it, because these could tell what they were
-- given, so neither could use its index (measured: all passages of the workspace are read, a hundred times slower). These two
-- functions run as guildhall_system, for which nothing is hidden, and are all that can be asked that way. They take no workspace: they
-- look in that of `app.workspace_id` and nowhere else, and they tell of no passage more than its key. Who wants to read it
-- meets the policy.

create function knowledge_vocabulary(asked text[], shapes text[], sources uuid[])
returns table (ordinal int, word text, passages int, likeness real)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set pg_trgm.similarity_threshold = 0.25 -- two letters of a short word that changed places leave no more in common
as $$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
begin
  return query
  with wanted as materialized (
    select a.ordinal::int as ordinal, a.word collate "C" as word, a.shape, coalesce(v.passages, 0) as passages
    from unnest(asked, shapes) with ordinality a (word, shape, ordinal)
    left join knowledge_words v on v.workspace_id = workspace and v.word = a.word
  )
  select 0, '', v.passages, 1::real from knowledge_words v where v.workspace_id = workspace and v.word = ''
  union all
  select -1, '', count(*)::int, 1::real
  from (select from knowledge_passages p where p.workspace_id = workspace and p.source_id = any (sources) limit 10000) scope
  union all
  select w.ordinal, w.word, w.passages, 1::real from wanted w
  union all
  -- Inflections: words that begin alike. U+10FFFF sorts after every letter.
  select w.ordinal, near.word, near.passages, near.likeness
  from wanted w
  cross join lateral (select left(w.word, greatest(4, char_length(w.word) - 3)) collate "C" as stem) s
  cross join lateral (
    select v.word, v.passages, similarity(v.shape, w.shape) as likeness
    from knowledge_words v
    where v.workspace_id = workspace and v.word >= s.stem and v.word < s.stem || chr(1114111)
      and v.word <> w.word and v.passages > 0
    order by likeness desc, v.word limit 5) near
  where w.shape <> '' and near.likeness >= 0.4
  union all
  -- Typing errors: what looks like a word that is not there.
  select w.ordinal, near.word, near.passages, near.likeness
  from (select * from wanted m where m.shape <> '' and m.passages = 0 order by char_length(m.shape) desc limit 2) w
  cross join lateral (
    select v.word, v.passages, similarity(v.shape, w.shape) as likeness
    from knowledge_words v
    where v.workspace_id::text = workspace::text and v.shape % w.shape and v.passages > 0
    order by likeness desc, v.word limit 20) near;
end
$$;
comment on function knowledge_vocabulary(text[], text[], uuid[]) is
  'Each asked word, by its ordinal from 1, with how many passages have it, and the words like it. Ordinal 0: all passages of the workspace; -1: those of the sources, counted up to 10000';

create function knowledge_matches(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], graded boolean[], most int, wanted int)
returns table (source_id uuid, seq int, score double precision)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  queries constant tsquery[] := array(select t.part::tsquery from unnest(parts) with ordinality t (part, ordinal) order by t.ordinal);
  once constant double precision := ts_rank('word:1'::tsvector, 'word'::tsquery);
begin
  return query
  with found as materialized (
    (select p.source_id, p.seq, p.words
     from knowledge_passages p
     where not inverted and p.workspace_id = workspace and p.source_id = any (sources)
       and (candidates is null or p.words @@ candidates)
     union all
     select p.source_id, p.seq, p.words
     from knowledge_passages p
     where inverted and p.workspace_id::text = workspace::text and p.words @@ candidates
       and (p.source_id = any (sources)) is true)
    limit most
  )
  select f.source_id, f.seq, s.score
  from found f
  cross join lateral (
    select sum(t.weight * case when t.graded then ts_rank(f.words, t.query) / once else (f.words @@ t.query)::int end) as score
    from unnest(queries, weights, graded) t (query, weight, graded)) s
  where s.score > 0
  order by s.score desc, f.source_id, f.seq
  limit wanted;
end
$$;
comment on function knowledge_matches(uuid[], tsquery, boolean, text[], real[], boolean[], int, int) is
  'The best of the first `most` passages that match `candidates` (null = any), found by the index if `inverted`: the sum of the weights of their parts; a graded part counts more the oftener it is there';

grant create on schema public to guildhall_system;
alter function knowledge_vocabulary(text[], text[], uuid[]) owner to guildhall_system;
alter function knowledge_matches(uuid[], tsquery, boolean, text[], real[], boolean[], int, int) owner to guildhall_system;
revoke create on schema public from guildhall_system;
revoke execute on function knowledge_vocabulary(text[], text[], uuid[]),
  knowledge_matches(uuid[], tsquery, boolean, text[], real[], boolean[], int, int) from public;
grant execute on function knowledge_vocabulary(text[], text[], uuid[]),
  knowledge_matches(uuid[], tsquery, boolean, text[], real[], boolean[], int, int) to guildhall_app;
