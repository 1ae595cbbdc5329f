-- Why: connections begin as the login, and each transaction names its role. A statement for which that was lost, by a fault or by a
-- pooler, must see nothing. The login is a member of guildhall_system, and policies hold for members, too: so far it saw every row.
--
-- Migrations change rows as the login: db/migrate.ts says for each of them that it is one.

-- Immutable, though it is not, so that the planner puts its value in place of the call: a condition that is left in a plan keeps conditions
-- with operators that are not leakproof, such as @@ of the text search, away from their indexes. PostgreSQL plans anew when the role
-- changes, since row-level security depends on it.
create function sees_every_workspace() returns boolean immutable parallel safe language sql as $$
  select current_user = 'guildhall_system' or current_setting('guildhall.migration', true) = 'on'
$$;

create function let_system_see(target regclass) returns void language plpgsql as $$
begin
  execute format($policy$
    create policy every_workspace on %s to guildhall_system
      using (sees_every_workspace()) with check (sees_every_workspace())
  $policy$, target);
end
$$;
revoke execute on function let_system_see(regclass) from public;

create or replace function protect_tenant_table(target regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format($policy$
    create policy own_workspace on %s to guildhall_app
      using (workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid)
      with check (workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid)
  $policy$, target);
  perform let_system_see(target);
end
$$;

do $$
declare
  target regclass;
begin
  for target in select polrelid::regclass from pg_policy where polname = 'every_workspace' loop
    execute format('drop policy every_workspace on %s', target);
    perform let_system_see(target);
  end loop;
end
$$;
