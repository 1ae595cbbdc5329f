-- Why: steps are the rows that grow fastest, and what is read of them is the last few weeks. They are partitioned by the week in which
-- their turn began (ids are time-ordered), so that old ones go with their files and not row by row.

-- Not in `public`: roles get rights on every table there, and a partition is reached through its table only.
create schema if not exists partitions;

alter table turn_steps drop constraint turn_steps_turn_fkey;
alter table turn_steps set schema partitions;
alter table partitions.turn_steps rename to turn_steps_unpartitioned;
drop policy own_workspace on partitions.turn_steps_unpartitioned;
drop policy every_workspace on partitions.turn_steps_unpartitioned;
revoke all on partitions.turn_steps_unpartitioned from guildhall_app, guildhall_system;
-- For what follows: under forced row-level security the owner sees no row of its own table.
alter table partitions.turn_steps_unpartitioned no force row level security;
alter table partitions.turn_steps_unpartitioned disable row level security;

create table turn_steps (
  like partitions.turn_steps_unpartitioned including defaults including constraints including comments,
  primary key (workspace_id, turn_id, seq)
) partition by range (turn_id);
-- lz4 packs and unpacks several times faster; a PostgreSQL that was built without it keeps its default.
do $$
begin
  alter table turn_steps alter input set compression lz4, alter output set compression lz4;
exception when feature_not_supported then
  null;
end
$$;
comment on table turn_steps is 'No foreign key to turns: dropping a partition would lock that table. Steps outlive no turn, since turns are never removed';
comment on column turn_steps.turn_id is 'Its first 48 bits are the time at which the turn began, in milliseconds: the key of the partitions';

-- The smallest id of a moment, as the bound of a partition.
create function first_id_at(moment timestamptz) returns uuid language sql immutable strict
  return (lpad(to_hex(round(extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- As owner of the table, since no role of the service owns anything. The lock of `attach` lets rows be read and written.
create function add_steps_partition(id uuid) returns void language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '5s'
as $$
declare
  ms constant bigint := ('x' || lpad(left(replace(id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint;
  week constant timestamp := date_trunc('week', to_timestamp(ms / 1000.0) at time zone 'UTC');
  partition constant text := 'turn_steps_' || to_char(week, 'YYYY_MM_DD');
begin
  if exists (select from pg_class c where c.relnamespace = 'partitions'::regnamespace and c.relname = partition) then
    return;
  end if;
  perform pg_advisory_xact_lock(7261548203);
  if exists (select from pg_class c where c.relnamespace = 'partitions'::regnamespace and c.relname = partition) then
    return; -- made meanwhile
  end if;
  begin
    execute format('create table partitions.%I (like turn_steps including all excluding indexes)', partition);
    execute format('alter table partitions.%I enable row level security', partition);
    execute format('alter table partitions.%I force row level security', partition);
    execute format('alter table turn_steps attach partition partitions.%I for values from (%L) to (%L)', partition,
      first_id_at(week at time zone 'UTC'), first_id_at((week + interval '1 week') at time zone 'UTC'));
  exception when invalid_object_definition then
    null; -- the first partition, which has the steps of before, has this week
  end;
end
$$;
comment on function add_steps_partition(uuid) is 'Makes the partition of turn_steps that takes the steps of a turn, unless there is one';
revoke execute on function add_steps_partition(uuid) from public;
grant execute on function add_steps_partition(uuid) to guildhall_app, guildhall_system;

-- The steps that there are become the first partition, up to the end of this week. Whatever claims to be of later is stored anew.
do $$
declare
  bound constant uuid := first_id_at((date_trunc('week', now() at time zone 'UTC') + interval '1 week') at time zone 'UTC');
  later uuid;
begin
  create temporary table later_steps on commit drop as select * from partitions.turn_steps_unpartitioned where turn_id >= bound;
  delete from partitions.turn_steps_unpartitioned where turn_id >= bound;
  if exists (select from partitions.turn_steps_unpartitioned) then
    execute format('alter table turn_steps attach partition partitions.turn_steps_unpartitioned for values from (minvalue) to (%L)', bound);
    alter table partitions.turn_steps_unpartitioned enable row level security;
    alter table partitions.turn_steps_unpartitioned force row level security;
  else
    drop table partitions.turn_steps_unpartitioned;
  end if;
  for later in select distinct turn_id from later_steps union select first_id_at(now() + make_interval(weeks => n)) from generate_series(0, 4) n loop
    perform add_steps_partition(later);
  end loop;
  insert into turn_steps select * from later_steps;
end
$$;
select protect_tenant_table('turn_steps');
