-- Why: connections to toolkits, the built-in ones and those of the remote registry. Operators make them; agents are linked to them.

create table native_connections (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  provider text not null check (provider in ('builtin', 'composio')),
  toolkit_slug text not null check (toolkit_slug ~ '^[A-Za-z0-9_-]{1,100}$'),
  name text not null check (char_length(name) between 1 and 255),
  external_id text check (external_id ~ '^[A-Za-z0-9_-]{1,200}$'),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint native_connections_account check ((provider = 'composio') = (external_id is not null))
);
comment on table native_connections is 'What state a connection is in is not stored: the registry is asked';
comment on column native_connections.external_id is 'The connected account at the registry; null for built-in toolkits, which need none';
create unique index native_connections_account_key on native_connections (workspace_id, provider, toolkit_slug, coalesce(external_id, ''))
  where deleted_at is null;
create index native_connections_list on native_connections (workspace_id, created_at desc, id desc) where deleted_at is null;
select protect_tenant_table('native_connections');
