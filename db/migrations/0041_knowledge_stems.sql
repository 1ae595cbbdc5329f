-- Why: passages are found by the stems of their words, and ranked by how rare a word is in the searched sources and how long a passage is. Rows of
-- before have neither; they are found by their words until the job index-knowledge-source has been through them.

alter table knowledge_passages
  add column length int check (length >= 0),
  add column stemmed boolean not null default false,
  add column worth real not null default 1 check (worth > 0 and worth <= 1);
comment on column knowledge_passages.words is
  'Words of heading (label C) and content (label D) as runtime/knowledge/terms.ts cuts them, and their stems, which begin with ~; those of a heading twice';
comment on column knowledge_passages.length is 'Number of words; null: the row is of before and to be indexed again';
comment on column knowledge_passages.stemmed is 'Whether words has stems: the language of the passage is known';
comment on column knowledge_passages.worth is 'Its score is multiplied by this: less than 1 for tables of contents and the like';
-- The sweep asks it across workspaces, in these words.
create index knowledge_passages_unindexed on knowledge_passages (workspace_id, source_id) where length is null;

create table knowledge_indexes (
  workspace_id uuid not null,
  source_id uuid not null,
  languages text[] not null,
  passages int not null check (passages >= 0),
  words bigint not null check (words >= 0),
  primary key (workspace_id, source_id),
  constraint knowledge_indexes_source_fkey foreign key (workspace_id, source_id)
    references knowledge_sources (workspace_id, id) on delete cascade
);
comment on table knowledge_indexes is 'What the ranking needs to know of a source; replaced with its passages. Without a row, none of its passages has stems';
comment on column knowledge_indexes.languages is 'Of its passages, the most common first: names of PostgreSQL''s Snowball dictionaries without _stem';
comment on column knowledge_indexes.words is 'Sum of the lengths of its passages';
select protect_tenant_table('knowledge_indexes');

create table knowledge_source_words (
  workspace_id uuid not null,
  source_id uuid not null,
  word text collate "C" not null check (octet_length(word) <= 1000),
  passages int not null check (passages > 0),
  primary key (workspace_id, source_id, word),
  constraint knowledge_source_words_index_fkey foreign key (workspace_id, source_id)
    references knowledge_indexes (workspace_id, source_id) on delete cascade
);
comment on table knowledge_source_words is
  'In how many passages of a source a word or stem stands: how rare it is there. In large sources, those of a single passage are left out';
select protect_tenant_table('knowledge_source_words');

create function knowledge_terms(asked text[], written text[], shapes text[], sources uuid[])
returns table (ordinal int, word text, passages int, found int, likeness real)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  spoken text[];
  scope uuid[];
  covered bigint;
  indexed bigint;
  average bigint;
begin
  select coalesce(sum(i.passages), 0), coalesce(sum(i.words) / nullif(sum(i.passages), 0), 0) into indexed, average
  from knowledge_indexes i where i.workspace_id = workspace and i.source_id = any (sources);
  spoken := array(
    select l.language from knowledge_indexes i cross join unnest(i.languages) l (language)
    where i.workspace_id = workspace and i.source_id = any (sources)
    group by l.language order by sum(i.passages) desc, l.language limit 6);
  -- The largest sources stand for all when there are very many: each word is looked up in each of them.
  select array_agg(largest.source_id), sum(largest.passages) into scope, covered from (
    select i.source_id, i.passages from knowledge_indexes i
    where i.workspace_id = workspace and i.source_id = any (sources) and i.passages > 0
    order by i.passages desc, i.source_id limit greatest(10, 3000 / greatest(1, cardinality(asked)))) largest;
  return query
  select 0, '', v.passages, v.passages, 1::real from knowledge_words v where v.workspace_id = workspace and v.word = ''
  union all
  select -1, '', (indexed + old.passages)::int, old.passages::int, 1::real
  from (select count(*) as passages from (
    select from knowledge_passages p
    where p.workspace_id = workspace and p.source_id = any (sources) and p.length is null limit 10000) unindexed) old
  union all
  select -2, '', average::int, 0, 1::real
  union all
  select lexemes.ordinal, lexemes.word, lexemes.passages,
    coalesce((
      select (sum(k.passages) * indexed / greatest(1, covered))::int
      from unnest(scope) s (id)
      join knowledge_source_words k on k.workspace_id = workspace and k.source_id = s.id and k.word = lexemes.word), 0),
    1::real
  from (
    select a.ordinal::int as ordinal, a.word collate "C" as word, coalesce(v.passages, 0) as passages
    from unnest(asked) with ordinality a (word, ordinal)
    left join knowledge_words v on v.workspace_id = workspace and v.word = a.word
    union all
    select distinct a.ordinal::int, ('~' || stem.word) collate "C", 0
    from unnest(asked, written) with ordinality a (word, written, ordinal)
    cross join unnest(spoken) l (language)
    join pg_ts_dict d on d.dictname = l.language || '_stem' and d.dictnamespace = 'pg_catalog'::regnamespace
    cross join lateral (
      select unaccent((ts_lexize(d.oid::regdictionary, a.written))[1]) as word where a.written <> ''
      union all
      select a.word) stem
    where stem.word <> '') lexemes
  union all
  select near.ordinal, near.word, near.passages, 0, near.likeness
  from knowledge_vocabulary(asked, shapes, '{}') near
  where near.ordinal > 0 and near.likeness < 1;
end
$$;
comment on function knowledge_terms(text[], text[], text[], uuid[]) is
  'Each asked word, by its ordinal from 1, with how many passages of the workspace and of the sources have it; its stems in the languages of the sources, which begin with ~; and the words like it. Ordinal 0: all passages of the workspace; -1: those of the sources, and how many of them have no stems yet; -2: their average length';

create function knowledge_ranking(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], plain_weights real[], graded boolean[], average real, most int, wanted int)
returns table (source_id uuid, seq int, score double precision)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  queries constant tsquery[] := array(select t.part::tsquery from unnest(parts) with ordinality t (part, ordinal) order by t.ordinal);
begin
  return query
  with found as materialized (
    (select p.source_id, p.seq, p.words, p.length, p.stemmed, p.worth
     from knowledge_passages p
     where not inverted and p.workspace_id = workspace and p.source_id = any (sources)
       and (candidates is null or p.words @@ candidates)
     union all
     select p.source_id, p.seq, p.words, p.length, p.stemmed, p.worth
     from knowledge_passages p
     where inverted and p.workspace_id::text = workspace::text and p.words @@ candidates
       and (p.source_id = any (sources)) is true)
    limit most
  )
  select f.source_id, f.seq, f.worth * s.score
  from found f
  cross join lateral (
    -- Okapi BM25, k1 = 1.2 and b = 0.75. With equal weights ts_rank of one word is the sum of 1/n² over its n places, divided by π²/6:
    -- the remainder of that sum is 1/(n + 0.5), so the rank tells n.
    select sum(w.weight * case
        when not t.graded then (f.words @@ t.query)::int
        else h.often * 2.2 / (h.often + 0.3 + 0.9 * coalesce(f.length, average) / greatest(average, 1)) end) as score
    from unnest(queries, weights, plain_weights, graded) t (query, weight, plain_weight, graded)
    cross join lateral (select case when f.stemmed then t.weight else t.plain_weight end as weight) w
    cross join lateral (select case when t.graded
      then round(1 / (1.6449340668 * greatest(1 - ts_rank('{1,1,1,1}', f.words, t.query)::float8, 0.001)) - 0.5) end as often) h
    where w.weight > 0) s
  where s.score > 0
  order by 3 desc, f.source_id, f.seq
  limit wanted;
end
$$;
comment on function knowledge_ranking(uuid[], tsquery, boolean, text[], real[], real[], boolean[], real, int, int) is
  'The best of the first `most` passages that match `candidates` (null = any), found by the index if `inverted`: the sum of the weights of their parts, a graded part by BM25. `plain_weights` are for passages without stems';

grant create on schema public to guildhall_system;
alter function knowledge_terms(text[], text[], text[], uuid[]) owner to guildhall_system;
alter function knowledge_ranking(uuid[], tsquery, boolean, text[], real[], real[], boolean[], real, int, int) owner to guildhall_system;
revoke create on schema public from guildhall_system;
revoke execute on function knowledge_terms(text[], text[], text[], uuid[]),
  knowledge_ranking(uuid[], tsquery, boolean, text[], real[], real[], boolean[], real, int, int) from public;
grant execute on function knowledge_terms(text[], text[], text[], uuid[]),
  knowledge_ranking(uuid[], tsquery, boolean, text[], real[], real[], boolean[], real, int, int) to guildhall_app;
