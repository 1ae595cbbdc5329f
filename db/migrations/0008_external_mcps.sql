-- Why: MCP servers elsewhere whose tools agents call: where they are, how the service proves itself to them, and what was
-- found on them.

create table external_mcps (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 255),
  url text not null check (char_length(url) between 1 and 2048),
  auth_type text not null check (auth_type in ('NONE', 'API_KEY', 'BEARER_TOKEN', 'CUSTOM_HEADER')),
  auth_header_name text check (char_length(auth_header_name) between 1 and 200),
  credential bytea,
  config_version int not null default 1 check (config_version >= 1),
  status text not null default 'PENDING'
    check (status in ('PENDING', 'CONNECTED', 'ERROR', 'PENDING_AUTHORIZATION', 'EXPIRED')),
  error_message text,
  description text,
  tools jsonb not null default '[]' check (jsonb_typeof(tools) = 'array'),
  input_schemas jsonb not null default '{}' check (jsonb_typeof(input_schemas) = 'object'),
  discoveries_begun int not null default 0,
  discovery_settled int not null default 0,
  last_discovered_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint external_mcps_credential check ((credential is not null) = (auth_type <> 'NONE' and deleted_at is null)),
  constraint external_mcps_one_header check (auth_header_name is null or auth_type = 'CUSTOM_HEADER'),
  constraint external_mcps_error check ((status = 'ERROR') = (error_message is not null)),
  check (discovery_settled <= discoveries_begun)
);
comment on column external_mcps.auth_header_name is 'Set when CUSTOM_HEADER was given as one name and one value; null when as a list of headers';
comment on column external_mcps.credential is 'Sealed JSON (core/secrets.ts); erased when the server is deleted';
comment on column external_mcps.config_version is 'Goes up when the address or the credential changes: a connection or a discovery of an earlier one is worth nothing';
comment on column external_mcps.description is 'What the server says about itself';
comment on column external_mcps.tools is 'Array of {id, name, description, enabled}: what the API shows';
comment on column external_mcps.input_schemas is 'JSON Schema by tool id; apart from tools, so that lists need not read it';
comment on column external_mcps.discoveries_begun is 'Each discovery takes the next number';
comment on column external_mcps.discovery_settled is 'Number of the discovery whose outcome is stored: one that began earlier and ends later does not replace it';
create unique index external_mcps_name_key on external_mcps (workspace_id, name) where deleted_at is null;
create index external_mcps_list on external_mcps (workspace_id, created_at desc, id desc) where deleted_at is null;
select protect_tenant_table('external_mcps');
