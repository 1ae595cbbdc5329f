-- Why: a client that lost an answer must be able to send its request again without doing its work twice. The answer is stored with the work,
-- under the key that the client chose.

create table idempotency_keys (
  workspace_id uuid not null,
  key_hash bytea not null check (octet_length(key_hash) = 32),
  request_hash bytea not null check (octet_length(request_hash) = 32),
  claim_id uuid,
  claimed_until timestamptz(3),
  begun jsonb check (jsonb_typeof(begun) = 'object'),
  status int check (status between 200 and 499),
  body text,
  expires_at timestamptz(3) not null,
  primary key (workspace_id, key_hash),
  constraint idempotency_keys_claim check ((claim_id is null) = (claimed_until is null)),
  constraint idempotency_keys_answer check ((status is null) = (body is null) and (status is null or claim_id is null))
) with (fillfactor = 80);
comment on table idempotency_keys is 'Requests with an Idempotency-Key: claimed while one runs, then answered. Neither: the last attempt failed, and the next request begins again';
comment on column idempotency_keys.key_hash is 'SHA-256 of method, path and key';
comment on column idempotency_keys.request_hash is 'SHA-256 of the body and the query; another one under the key is refused';
comment on column idempotency_keys.claimed_until is 'Renewed while the process lives; afterwards another request takes the claim';
comment on column idempotency_keys.begun is 'Rows that an attempt without an answer has stored. The next attempt continues with them';
comment on column idempotency_keys.body is 'A success as it was sent; an error without the id of its request';
create index idempotency_keys_expired on idempotency_keys (expires_at);
select protect_tenant_table('idempotency_keys');
