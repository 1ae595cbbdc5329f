-- Why: a turn needs the present state of everything its agent is linked to. Replicas keep that in memory, and must know in the one
-- statement that begins a turn whether it has changed since: a number that each change of such a thing raises.

create table workspace_revisions (
  workspace_id uuid primary key references workspaces (id),
  revision bigint not null default 1
);
select protect_tenant_table('workspace_revisions');

create function raise_workspace_revision() returns trigger language plpgsql as $$
begin
  insert into workspace_revisions (workspace_id) values (new.workspace_id)
  on conflict (workspace_id) do update set revision = workspace_revisions.revision + 1;
  return null;
end
$$;

-- Deferred to the commit: the row is locked last and for a moment, so that it takes part in no deadlock.
create constraint trigger raise_revision after insert or update on http_tools
  deferrable initially deferred for each row execute function raise_workspace_revision();
create constraint trigger raise_revision after insert or update on external_mcps
  deferrable initially deferred for each row execute function raise_workspace_revision();
create constraint trigger raise_revision after insert or update on native_connections
  deferrable initially deferred for each row execute function raise_workspace_revision();
create constraint trigger raise_revision after insert or update on skills
  deferrable initially deferred for each row execute function raise_workspace_revision();
create constraint trigger raise_revision after insert or update on ai_models
  deferrable initially deferred for each row execute function raise_workspace_revision();
create constraint trigger raise_revision after update of name, description, status, published_version_number, deleted_at on agents
  deferrable initially deferred for each row
  when (old.name is distinct from new.name or old.description is distinct from new.description or old.status is distinct from new.status or old.deleted_at is distinct from new.deleted_at
    or old.published_version_number is distinct from new.published_version_number)
  execute function raise_workspace_revision();
