-- Why: skills of a workspace in the Agent Skills format: what their SKILL.md says, and every file as it was uploaded.

create table skills (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 64),
  description text not null check (char_length(description) <= 1024),
  license text check (char_length(license) between 1 and 1024),
  compatibility text check (char_length(compatibility) between 1 and 500),
  allowed_tools text check (char_length(allowed_tools) between 1 and 4096),
  metadata jsonb check (jsonb_typeof(metadata) = 'object'),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id)
);
comment on column skills.description is 'Never empty in an upload; a change may empty it';
comment on column skills.metadata is 'metadata of the front matter; SQL null = it has none';
create unique index skills_name_key on skills (workspace_id, name) where deleted_at is null;
create index skills_list on skills (workspace_id, created_at desc, id desc) where deleted_at is null;
select protect_tenant_table('skills');

create table skill_files (
  workspace_id uuid not null,
  skill_id uuid not null,
  path text not null check (char_length(path) between 1 and 255),
  size_bytes bigint not null check (size_bytes between 0 and 20971520),
  "binary" boolean not null,
  content bytea not null,
  primary key (workspace_id, skill_id, path),
  constraint skill_files_skill_fkey foreign key (workspace_id, skill_id) references skills (workspace_id, id) on delete cascade,
  constraint skill_files_size_is_of_content check (size_bytes = octet_length(content))
);
comment on table skill_files is 'Erased when the skill is deleted, which keeps its row';
comment on column skill_files.path is 'Inside the skill, parts joined by /; SKILL.md is always there';
comment on column skill_files."binary" is 'Something other than UTF-8 text; text with a NUL counts as binary';
select protect_tenant_table('skill_files');
