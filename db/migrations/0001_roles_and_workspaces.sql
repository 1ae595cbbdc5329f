-- Why: every later table belongs to a workspace, and requests must run as a role that owns nothing, so that row-level
-- security holds even for a query that forgot its `where workspace_id`.
--
-- guildhall_app     requests of one workspace; sees only the rows of `app.workspace_id`
-- guildhall_system  work across workspaces (key lookup, administration, schedules); sees all rows, owns none
--
-- Roles belong to the whole cluster and may be there already. A login that may not create roles needs this once, by an
-- administrator: create role guildhall_app; create role guildhall_system; grant guildhall_app, guildhall_system to <login>;
do $$
declare
  role_name text;
  may_set boolean;
begin
  foreach role_name in array array['guildhall_app', 'guildhall_system'] loop
    begin
      if not exists (select from pg_roles where rolname = role_name) then
        execute format('create role %I nologin', role_name);
      end if;
    exception when duplicate_object or unique_violation then
      null; -- another database of this cluster made it at the same moment
    end;
    -- Since PostgreSQL 16 the creator of a role is its administrator and still may not switch to it.
    if current_setting('server_version_num')::int >= 160000 then
      may_set := pg_has_role(current_user, role_name, 'SET');
    else
      may_set := pg_has_role(current_user, role_name, 'MEMBER');
    end if;
    if not may_set then
      execute format('grant %I to %I', role_name, current_user);
    end if;
  end loop;
end
$$;

grant usage on schema public to guildhall_app, guildhall_system;
alter default privileges in schema public grant select, insert, update, delete on tables to guildhall_app, guildhall_system;
alter default privileges in schema public grant usage on sequences to guildhall_app, guildhall_system;

-- Every migration that makes a tenant table calls this. After a transaction-local set_config the setting reads '' and
-- not null, hence nullif; without a workspace nothing is visible.
create function protect_tenant_table(target regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format($policy$
    create policy own_workspace on %s to guildhall_app
      using (workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid)
      with check (workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid)
  $policy$, target);
  execute format('create policy every_workspace on %s to guildhall_system using (true) with check (true)', target);
end
$$;
revoke execute on function protect_tenant_table(regclass) from public;

create table workspaces (
  id uuid primary key,
  name text not null check (char_length(name) between 1 and 200),
  agent_limit int check (agent_limit >= 0),
  operation_limit int check (operation_limit >= 0),
  created_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3)
);
comment on table workspaces is 'Reference table: one row per tenant, copied to every node when tables are distributed by workspace_id';
comment on column workspaces.agent_limit is 'Most agents that are not deleted; null = no limit';
comment on column workspaces.operation_limit is 'Most operations (messages.cost_ops) in a calendar month, UTC; null = no limit';
alter table workspaces enable row level security;
alter table workspaces force row level security;
create policy own_workspace on workspaces for select to guildhall_app
  using (id = nullif(current_setting('app.workspace_id', true), '')::uuid);
create policy every_workspace on workspaces to guildhall_system using (true) with check (true);
revoke insert, update, delete on workspaces from guildhall_app;

create table api_keys (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null check (char_length(name) between 1 and 200),
  key_hash bytea not null constraint api_keys_key_hash_key unique check (octet_length(key_hash) = 32),
  display text not null check (char_length(display) <= 20),
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
comment on table api_keys is 'Reference table: looked up by hash before the workspace is known, hence unique over all workspaces';
comment on column api_keys.key_hash is 'SHA-256 of the whole key; the key itself is never stored';
comment on column api_keys.display is 'What a list may show of the key: its first and last characters';
comment on column api_keys.last_used_at is 'Written at most once a minute';
create index api_keys_workspace on api_keys (workspace_id, created_at desc);
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy every_workspace on api_keys to guildhall_system using (true) with check (true);
revoke all on api_keys from guildhall_app;

create table operation_usage (
  workspace_id uuid not null references workspaces (id),
  month date not null check (extract(day from month) = 1),
  operations bigint not null default 0 check (operations >= 0),
  primary key (workspace_id, month)
);
comment on table operation_usage is 'Operations spent per calendar month (UTC), compared with workspaces.operation_limit';
select protect_tenant_table('operation_usage');
