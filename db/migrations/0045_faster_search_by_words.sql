-- Why: with stems a search looks up three times as many words, and scores half as many parts again. The formula of a search is now compiled as one expression, in which each part
-- is computed once, instead of read part by part from a list for each passage (where the rank, used twice, was also computed twice). Candidates are no longer copied before they are scored.
-- How often words stand in sources is asked in one look, and plans are kept. Scores stay what they were. Nothing is indexed anew.

create or replace function knowledge_ranking(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], plain_weights real[], graded boolean[], average real, most int, wanted int)
returns table (source_id uuid, seq int, score double precision)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  -- coalesce: without it the inverted index would be read for all of the workspace.
  chosen constant text := case
    when inverted then 'p.workspace_id::text = $1::text and p.words @@ $2 and (p.source_id = any ($3)) is true'
    else 'p.workspace_id = $1 and p.source_id = any ($3) and coalesce(p.words @@ $2, true)' end;
  formula text;
begin
  -- Okapi BM25, k1 = 2 and b = 0.75. With equal weights ts_rank of one word is the sum of 1/n² over its n places, divided by π²/6:
  -- the remainder of that sum is 1/(n + 0.5), so the rank tells n. BM25's 3n / (n + norm) is
  -- written so that n stands there once, and is 0 to the last bit where n is 0.
  select string_agg(format('case when %s then %s * %s else 0 end',
      case when t.graded then case when t.weight > 0 and t.plain_weight > 0 then 'true' when t.weight > 0 then 'f.stemmed' else 'not f.stemmed' end
        else format('f.words @@ %L::tsquery', t.part) end,
      case when t.weight = t.plain_weight then format('%L::float8', t.weight)
        else format('case when f.stemmed then %L::float8 else %L::float8 end', t.weight, t.plain_weight) end,
      case when t.graded then format('3 * (1 - n.norm / (round(1 / (1.6449340668 * greatest(1 - ts_rank($4, f.words, %L::tsquery)::float8, 0.001)) - 0.5) + n.norm))', t.part)
        else '1' end), ' + ' order by t.ordinal)
  into formula
  from unnest(parts, weights, plain_weights, graded) with ordinality t (part, weight, plain_weight, graded, ordinal)
  where greatest(t.weight, t.plain_weight) > 0;
  -- offset 0 keeps what follows from being put in place of each use of a score.
  return query execute format('
    select f.source_id, f.seq, f.worth * s.score
    from (select p.source_id, p.seq, p.words, p.length, p.stemmed, p.worth from knowledge_passages p where %s limit $5) f
    cross join lateral (select 0.5 + 1.5 * coalesce(f.length, $6) / greatest($6, 1) as norm offset 0) n
    cross join lateral (select %s as score offset 0) s
    where s.score > 0
    order by 3 desc, f.source_id, f.seq
    limit $7', chosen, coalesce(formula, '0'))
  using workspace, candidates, sources, '{1,1,1,1}'::real[], most, average, wanted;
end
$$;

create or replace function knowledge_terms(asked text[], written text[], shapes text[], sources uuid[])
returns table (ordinal int, word text, passages int, found int, likeness real)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan -- planning costs more than what it finds out
as $$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  everything constant int := (select v.passages from knowledge_words v where v.workspace_id = workspace and v.word = '');
  spoken text[];
  scope uuid[];
  covered bigint;
  indexed bigint;
  average bigint;
  whole boolean;
begin
  select coalesce(sum(i.passages), 0), coalesce(sum(i.words) / nullif(sum(i.passages), 0), 0) into indexed, average
  from knowledge_indexes i where i.workspace_id = workspace and i.source_id = any (sources);
  -- The counts of the workspace are those of its sources when all of these are searched.
  whole := coalesce(indexed >= everything, false);
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
  with lexemes as materialized (
    select a.ordinal::int as ordinal, a.word collate "C" as word, coalesce(v.passages, 0) as passages, whole or v.passages is null as is_counted
    from unnest(asked) with ordinality a (word, ordinal)
    left join knowledge_words v on v.workspace_id = workspace and v.word = a.word
    union all
    select distinct a.ordinal::int, ('~' || stem.word) collate "C", 0, false
    from unnest(asked, written) with ordinality a (word, written, ordinal)
    cross join unnest(spoken) l (language)
    join pg_ts_dict d on d.dictname = l.language || '_stem' and d.dictnamespace = 'pg_catalog'::regnamespace
    cross join lateral (
      select unaccent((ts_lexize(d.oid::regdictionary, a.written))[1]) as word where a.written <> ''
      union all
      select a.word) stem
    where stem.word <> ''
  ), counted as materialized (
    select k.word, (sum(k.passages) * indexed / greatest(1, covered))::int as found
    from knowledge_source_words k
    where k.workspace_id = workspace and k.source_id = any (scope)
      and k.word = any (array(select l.word from lexemes l where not l.is_counted))
    group by k.word
  )
  select 0, '', everything, everything, 1::real where everything is not null
  union all
  select -1, '', (indexed + old.passages)::int, old.passages::int, 1::real
  from (select count(*) as passages from (
    select from knowledge_passages p
    where p.workspace_id = workspace and p.source_id = any (sources) and p.length is null limit 10000) unindexed) old
  union all
  select -2, '', average::int, 0, 1::real
  union all
  select l.ordinal, l.word, l.passages, case when l.is_counted then l.passages else coalesce(c.found, 0) end, 1::real
  from lexemes l left join counted c on c.word = l.word
  union all
  select near.ordinal, near.word, near.passages, 0, near.likeness
  from knowledge_vocabulary(asked, shapes, '{}') near
  where near.ordinal > 0 and near.likeness < 1;
end
$$;
