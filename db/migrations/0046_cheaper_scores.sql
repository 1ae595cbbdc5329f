-- Why: half of a search in a large collection is scoring, some 30 parts in each of 500 passages. Each part now takes nine operations of PostgreSQL instead of sixteen, parts for
-- passages with stems are asked together, and a passage goes through one step instead of three. Scores stay what they were, but for the last digits. Nothing is indexed anew.

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
