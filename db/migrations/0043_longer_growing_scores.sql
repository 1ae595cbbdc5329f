-- Why: the stems of a passage's own heading are counted three times, so that with k1 = 1.2 a word of the heading left little for what the content says of it.
-- A word's score now grows longer with the number of its places: k1 = 2. Nothing is indexed anew.

create or replace function knowledge_ranking(sources uuid[], candidates tsquery, inverted boolean, parts text[], weights real[], plain_weights real[], graded boolean[], average real, most int, wanted int)
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
    -- Okapi BM25, k1 = 2 and b = 0.75. With equal weights ts_rank of one word is the sum of 1/n² over its n places, divided by π²/6:
    -- the remainder of that sum is 1/(n + 0.5), so the rank tells n.
    select sum(w.weight * case
        when not t.graded then (f.words @@ t.query)::int
        else h.often * 3 / (h.often + 0.5 + 1.5 * coalesce(f.length, average) / greatest(average, 1)) end) as score
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
