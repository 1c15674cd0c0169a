-- Everything is in partitions of one week, so that what is old is dropped and not deleted.
create sequence archive_ids;
create table archive_items (
    id bigint not null, seen bigint not null, key text collate "C" not null, alias text collate "C" not null,
    kind text not null, host text not null, url text not null, title text not null, body bytea not null,
    asked text not null, published text not null, data text not null, day text collate "C" not null,
    size integer not null, tenant text not null, session text not null, public integer not null,
    place text collate "C" generated always as (substr(key, strpos(key, ' ') + 1)) stored, primary key (id, seen)
) partition by range (seen);
create index archive_items_key on archive_items (key);
create index archive_items_place on archive_items (place) where kind = 'page';
create index archive_items_alias on archive_items (alias) where kind = 'page';
-- What the statistics count is in it, so that they read no row; the tenant is what its policy asks for.
create index archive_items_seen on archive_items (seen) include (kind, size, tenant);
create index archive_items_body on archive_items (body);
-- Apart from the items: PostgreSQL does not use a full-text index below a row-level policy, as its operator is not
-- leakproof. No content is read from here, only which rows there are.
create table archive_words (
    id bigint not null, seen bigint not null, key text collate "C" not null, host text not null,
    day text collate "C" not null, tenant text not null, session text not null, public integer not null,
    words tsvector not null, primary key (id, seen)
) partition by range (seen);
create index archive_words_key on archive_words (key);
create index archive_words_seen on archive_words (seen);
create index archive_words_words on archive_words using gin (words) with (fastupdate = off);
-- A text once in each week, by its SHA-256, compressed by zlib.
create table archive_bodies (
    seen bigint not null, hash bytea not null, body bytea not null, primary key (hash, seen)
) partition by range (seen);
alter table archive_bodies alter column body set storage external;
alter table archive_items enable row level security;
alter table archive_items force row level security;
create policy archive_tenant on archive_items using (
    tenant = current_setting('groundwire.tenant', true) or current_setting('groundwire.operator', true) = 'on'
);
alter table archive_bodies enable row level security;
alter table archive_bodies force row level security;
create policy archive_tenant on archive_bodies using (
    current_setting('groundwire.operator', true) = 'on'
    or exists (select from archive_items i where i.body = archive_bodies.hash and i.seen >= archive_bodies.seen
        and i.seen < archive_bodies.seen + 604800000)
);
create table archive_about (version integer not null);
insert into archive_about values (1);
