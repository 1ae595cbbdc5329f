-- Why: texts and files that agents draw on. The content is kept in the file store and read in the background; the row is the only
-- record of what is still to be done, so that a lost job or a killed process loses nothing.

create table knowledge_sources (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 150),
  description text check (char_length(description) <= 500),
  source_type text not null check (source_type in ('FILE_UPLOAD', 'FILE', 'TEXT_INPUT')),
  file_kind text not null check (file_kind in ('pdf', 'docx', 'csv', 'markdown', 'text')),
  size_bytes bigint not null check (size_bytes >= 0),
  processing_status text not null default 'PENDING' check (processing_status in ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
  error_message text check (char_length(error_message) between 1 and 1000),
  attempts int not null default 0 check (attempts >= 0),
  last_processed_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  purged_at timestamptz(3),
  primary key (workspace_id, id),
  constraint knowledge_sources_failure_says_why check ((processing_status = 'FAILED') = (error_message is not null)),
  constraint knowledge_sources_end_has_time check (processing_status in ('PENDING', 'PROCESSING') or last_processed_at is not null),
  constraint knowledge_sources_purged_are_deleted check (purged_at is null or deleted_at is not null)
);
comment on table knowledge_sources is 'The content is in the file store, under <workspace_id>/knowledge/<id>; what is found of it in knowledge_passages';
comment on column knowledge_sources.file_kind is 'By the bytes, when it was uploaded: decides how it is read';
comment on column knowledge_sources.attempts is 'Runs of the processing so far; a run that was overtaken by a later one may not write its end, and a file that ends the process every time is given up';
comment on column knowledge_sources.deleted_at is 'In the future while the content is being stored: if that never ends, the source is purged then';
comment on column knowledge_sources.purged_at is 'When the stored file and the passages of a deleted source were removed';
create index knowledge_sources_list on knowledge_sources (workspace_id, created_at desc, id desc) where deleted_at is null;
-- The sweep for work whose job was lost asks it across workspaces, in these words.
create index knowledge_sources_unfinished on knowledge_sources (updated_at)
  where (deleted_at is null and processing_status in ('PENDING', 'PROCESSING')) or (deleted_at is not null and purged_at is null);
select protect_tenant_table('knowledge_sources');
