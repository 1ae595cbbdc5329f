-- Why: the vectors of a source are stored batch by batch, so that a run that ends early is gone on from where it was.

alter table knowledge_embeddings
  alter column dimensions drop not null,
  add column embedded_to int not null default -1,
  add column refused int not null default 0 check (refused >= 0),
  -- Until now the vectors of a source were stored together, so those that are there are whole.
  add column completed_at timestamptz(3) default now(),
  add column failed_at timestamptz(3),
  add column failure text check (char_length(failure) <= 2000);
alter table knowledge_embeddings alter column completed_at drop default;
comment on column knowledge_embeddings.model is 'As configured: provider/model, and what stands before each passage, if something does';
comment on column knowledge_embeddings.dimensions is 'Null until the first vectors are stored';
comment on column knowledge_embeddings.embedded_to is 'The last passage (seq) that was embedded; all before it were, too. It counts until completed_at is set';
comment on column knowledge_embeddings.refused is 'Passages without a vector, because the model refused them while it took others';
comment on column knowledge_embeddings.completed_at is 'Null while passages wait for their vectors';
comment on column knowledge_embeddings.failure is 'Why the last run failed; null after one that did not';
