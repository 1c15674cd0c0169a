create table archive_about (version integer not null, bytes integer not null);

create table archive_items (
    id integer primary key, key text not null, alias text not null, kind text not null, host text not null,
    url text not null, title text not null, asked text not null, published text, seen integer not null,
    day text not null, size integer not null, tenant text not null, session text not null, public integer not null,
    text text not null, data text not null,  -- last, as reading what comes after a long text takes long
    place text generated always as (substr(key, instr(key, ' ') + 1)) virtual, unique (key, kind)
);

create index archive_by_time on archive_items (seen, id, size, kind);

-- Only pages are looked up by URL: with the results, which are many and in no order, these indexes took half of the time
-- of a write.
create index archive_pages_by_alias on archive_items (alias) where kind = 'page';

create index archive_pages_by_place on archive_items (place) where kind = 'page';

create virtual table archive_words using fts5(
    title, text, asked, content='archive_items', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);

create trigger archive_out after delete on archive_items
    begin update archive_about set bytes = bytes - old.size; end;

insert into archive_words (archive_words, rank) values ('automerge', 8);

insert into archive_about values (2, 0);
