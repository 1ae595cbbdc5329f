-- Why: half of a search in a large collection is scoring, some 30 parts in each of 500 passages. Each part now takes nine operations of PostgreSQL instead of sixteen, parts for
-- passages with stems are asked together, and a passage goes through one step instead of three. In a short handbook nearly all of a search was planning and preparing statements, and not reading:
-- the score of few passages is now computed by a statement whose plan is kept, and what is known of the words of a search is asked in two statements in place of six.
-- Scores stay what they were, but for the last digits. Nothing is indexed anew.

create or replace function knowledge_ranking(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], plain_weights real[], graded boolean[], average real, most int, wanted int)
returns table (source_id uuid, seq int, score double precision)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan -- what is put together below is planned each time all the same
as $$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  -- coalesce: without it the inverted index would be read for all of the workspace.
  chosen constant text := case
    when inverted then 'p.workspace_id::text = $1::text and p.words @@ $2 and (p.source_id = any ($3)) is true'
    else 'p.workspace_id = $1 and p.source_id = any ($3) and coalesce(p.words @@ $2, true)' end;
  -- With so many passages, planning the formula takes about as long as going through the parts for each passage.
  few constant int := 40;
  formula text;
begin
  if candidates is null and not inverted and (
    select count(*) from (select from knowledge_passages p where p.workspace_id = workspace and p.source_id = any (sources) limit few + 1) chosen
  ) <= few then
    -- The formula below, to the last bit: its parts are added in the same order.
    return query
    select f.source_id, f.seq, f.worth * s.score
    from (select p.source_id, p.seq, p.words, p.stemmed, p.worth, 0.5 + 1.5 * coalesce(p.length, average) / greatest(average, 1) as norm
      from knowledge_passages p
      where p.workspace_id = workspace and p.source_id = any (sources) limit most) f
    cross join lateral (
      select coalesce(sum(r.amount order by r.ordinal) filter (where r.weight > 0 and r.plain_weight > 0), 0)
        + coalesce(sum(r.amount order by r.ordinal) filter (where r.weight <= 0), 0)
        + coalesce(sum(r.amount order by r.ordinal) filter (where r.plain_weight <= 0), 0) as score
      from (
        select t.weight, t.plain_weight, t.ordinal, case
          when t.graded then w.weight * 3 * (1 - f.norm / (floor('0.60792710185'::float8 / ('1'::float4 - ts_rank('{1,1,1,1}', f.words, t.query))) + f.norm))
          when f.words @@ t.query then w.weight
          else 0 end as amount
        from unnest(array(select o.part::tsquery from unnest(parts) with ordinality o (part, place) order by o.place), weights, plain_weights, graded)
          with ordinality t (query, weight, plain_weight, graded, ordinal)
        cross join lateral (select (case when f.stemmed then t.weight else t.plain_weight end)::text::float8 as weight offset 0) w
        where w.weight > 0) r) s
    where s.score > 0
    order by 3 desc, f.source_id, f.seq
    limit wanted;
    return;
  end if;
  -- Okapi BM25, k1 = 2 and b = 0.75. With equal weights ts_rank of one word is the sum of 1/n² over its n places, divided by π²/6:
  -- what remains of it is 0.6079 / (n + 0.5), to a hundredth of n for the 255 places that are kept, so the rank tells n. BM25's 3n / (n + norm) is
  -- written so that n stands there once, and is 0 to the last bit where n is 0. What counts only in passages with stems is skipped as a whole in the others.
  select string_agg(case groups.are when 'both' then groups.terms
      when 'stemmed' then format('case when f.stemmed then %s else 0 end', groups.terms)
      else format('case when f.stemmed then 0 else %s end', groups.terms) end, ' + ' order by groups.are)
  into formula
  from (
    select w.are, string_agg(case
        when t.graded then format('%s * (1 - f.norm / (floor(''0.60792710185''::float8 / (''1''::float4 - ts_rank($4, f.words, %L::tsquery))) + f.norm))', w.amount, t.part)
        else format('case when f.words @@ %L::tsquery then %s else 0 end', t.part, w.amount) end, ' + ' order by t.ordinal) as terms
    from unnest(parts, weights, plain_weights, graded) with ordinality t (part, weight, plain_weight, graded, ordinal)
    -- As text: so a real keeps its digits.
    cross join lateral (select t.weight::text::float8 * m.most as weight, t.plain_weight::text::float8 * m.most as plain_weight from (select case when t.graded then 3 else 1 end as most) m) a
    cross join lateral (
      select case when a.weight <= 0 then 'plain' when a.plain_weight <= 0 then 'stemmed' else 'both' end as are,
        case when a.weight > 0 and a.plain_weight > 0 and a.weight <> a.plain_weight
          then format('case when f.stemmed then %L::float8 else %L::float8 end', a.weight, a.plain_weight)
          else format('%L::float8', greatest(a.weight, a.plain_weight)) end as amount) w
    where greatest(a.weight, a.plain_weight) > 0
    group by w.are) groups;
  -- offset 0 keeps the formula from being put in place of each use of a score.
  return query execute format('
    select s.source_id, s.seq, s.worth * s.score
    from (
      select f.source_id, f.seq, f.worth, %s as score
      from (
        select p.source_id, p.seq, p.words, p.stemmed, p.worth, 0.5 + 1.5 * coalesce(p.length, $6) / greatest($6, 1) as norm
        from knowledge_passages p where %s limit $5) f
      offset 0) s
    where s.score > 0
    order by 3 desc, s.source_id, s.seq
    limit $7', coalesce(formula, '0'), chosen)
  using workspace, candidates, sources, '{1,1,1,1}'::real[], most, average, wanted;
end
$$;

-- Loads pg_trgm. Before that only a superuser may name its settings.
select similarity('', '');

create or replace function knowledge_terms(asked text[], written text[], shapes text[], sources uuid[])
returns table (ordinal int, word text, passages int, found int, likeness real)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan -- planning costs more than what it finds out
set pg_trgm.similarity_threshold = 0.25 -- as in knowledge_vocabulary
as $$
#variable_conflict use_column
declare
  workspace constant uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
  everything int;
  spoken text[];
  scope uuid[];
  covered bigint;
  indexed bigint;
  average bigint;
  whole boolean;
begin
  -- The largest sources stand for all when there are very many: each word is looked up in each of them.
  with mine as materialized (
    select i.source_id, i.passages, i.words, i.languages from knowledge_indexes i where i.workspace_id = workspace and i.source_id = any (sources)
  ), largest as materialized (
    select m.source_id, m.passages from mine m where m.passages > 0
    order by m.passages desc, m.source_id limit greatest(10, 3000 / greatest(1, cardinality(asked)))
  )
  select (select v.passages from knowledge_words v where v.workspace_id = workspace and v.word = ''),
    coalesce(sum(m.passages), 0), coalesce(sum(m.words) / nullif(sum(m.passages), 0), 0),
    array(select l.language from mine s cross join unnest(s.languages) l (language)
      group by l.language order by sum(s.passages) desc, l.language limit 6),
    array(select l.source_id from largest l), (select sum(l.passages) from largest l)
  into everything, indexed, average, spoken, scope, covered
  from mine m;
  -- The counts of the workspace are those of its sources when all of these are searched.
  whole := coalesce(indexed >= everything, false);
  return query
  with wanted as materialized (
    select a.ordinal::int as ordinal, a.word collate "C" as word, a.written, a.shape, coalesce(v.passages, 0) as passages, v.passages is not null as is_known
    from unnest(asked, written, shapes) with ordinality a (word, written, shape, ordinal)
    left join knowledge_words v on v.workspace_id = workspace and v.word = a.word
  ), lexemes as materialized (
    select w.ordinal, w.word, w.passages, whole or not w.is_known as is_counted from wanted w
    union all
    select distinct w.ordinal, ('~' || stem.word) collate "C", 0, false
    from wanted w
    cross join unnest(spoken) l (language)
    join pg_ts_dict d on d.dictname = l.language || '_stem' and d.dictnamespace = 'pg_catalog'::regnamespace
    cross join lateral (
      select unaccent((ts_lexize(d.oid::regdictionary, w.written))[1]) as word where w.written <> ''
      union all
      select w.word) stem
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
  -- Inflections: words that begin alike. U+10FFFF sorts after every letter.
  select w.ordinal, near.word, near.passages, 0, near.likeness
  from wanted w
  cross join lateral (select left(w.word, greatest(4, char_length(w.word) - 3)) collate "C" as stem) s
  cross join lateral (
    select v.word, v.passages, similarity(v.shape, w.shape) as likeness
    from knowledge_words v
    where v.workspace_id = workspace and v.word >= s.stem and v.word < s.stem || chr(1114111)
      and v.word <> w.word and v.passages > 0
    order by likeness desc, v.word limit 5) near
  where w.shape <> '' and near.likeness >= 0.4 and near.likeness < 1
  union all
  -- Typing errors: what looks like a word that is not there.
  select w.ordinal, near.word, near.passages, 0, near.likeness
  from (select * from wanted m where m.shape <> '' and m.passages = 0 order by char_length(m.shape) desc limit 2) w
  cross join lateral (
    select v.word, v.passages, similarity(v.shape, w.shape) as likeness
    from knowledge_words v
    where v.workspace_id::text = workspace::text and v.shape % w.shape and v.passages > 0
    order by likeness desc, v.word limit 20) near
  where near.likeness < 1;
end
$$;
