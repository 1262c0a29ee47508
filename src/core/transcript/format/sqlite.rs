//! Opens SQLite databases that another program may be writing, to read from them only.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

use super::store::StoreError;

/// How long to wait for a program that locks the database. Writers of a database with a write-ahead log lock no readers.
const PATIENCE: Duration = Duration::from_secs(1);

/// Opens a database. No value of it may have more bytes than the limit.
pub fn open(path: &Path, limit: u64) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> rusqlite::Result<Connection> { checked(Connection::open_with_flags(path, flags)?, limit) };
    let unlogged = || -> rusqlite::Result<Connection> {
        checked(Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?, limit)
    };
    // A program that has it open has a log beside it. Without one, all is in the file, and SQLite would put an empty log there.
    let is_closed = is_logged(path) && !log_of(path).exists();
    match if is_closed { unlogged() } else { open() } {
        // Without the files that coordinate readers and writers, SQLite opens it only if it is taken for one that no program changes.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) && !has_log(path) => unlogged(),
        opened => opened,
    }
    .map_err(|error| reason(&error))
}

/// Says why a database cannot be read.
pub fn reason(error: &Error) -> StoreError {
    let advice = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "; another program locks it: try again later",
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            "; its write-ahead log is readable only in a folder that can be written: copy the database with its -wal there"
        }
        Some(ErrorCode::TooBig) => "; --max-file allows more",
        _ => "",
    };
    StoreError(format!("a SQLite database that cannot be read: {error}{advice}"))
}

/// Restricts what the schema of a hostile database can do, and reads the schema.
fn checked(connection: Connection, limit: u64) -> rusqlite::Result<Connection> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::try_from(limit).unwrap_or(i32::MAX))?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
    Ok(connection)
}

/// Whether a database has these tables. Views and virtual tables, which can compute what they like, are none.
pub fn has_tables(connection: &Connection, tables: &[&str]) -> rusqlite::Result<bool> {
    let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ? AND sql NOT LIKE 'CREATE VIRTUAL%'";
    let mut statement = connection.prepare(query)?;
    for table in tables {
        if statement.query_row([table], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a table has an index whose first column is this one, so that its rows are found without a search of the whole table.
pub fn has_index(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let query = "SELECT count(*) FROM pragma_index_list(?1) AS list JOIN pragma_index_info(list.name) AS info \
                 ON info.seqno = 0 AND info.name = ?2 WHERE list.partial = 0";
    connection.query_row(query, [table, column], |row| Ok(row.get::<_, i64>(0)? > 0))
}

/// Whether a write-ahead log with content is beside a database.
fn has_log(path: &Path) -> bool {
    fs::metadata(log_of(path)).is_ok_and(|metadata| metadata.len() > 0)
}

fn log_of(path: &Path) -> PathBuf {
    let mut log = OsString::from(path);
    log.push("-wal");
    log.into()
}

/// Whether a database uses a write-ahead log (<https://www.sqlite.org/fileformat.html>, 1.3.3).
fn is_logged(path: &Path) -> bool {
    let mut head = [0; 20];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head[18] == 2 && head[19] == 2
}

/// The address of a database that is taken for one that no program changes (<https://www.sqlite.org/uri.html>).
fn immutable(path: &Path) -> String {
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let path = if cfg!(windows) { format!("/{}", path.replace('\\', "/")) } else { path };
    format!("file:{path}?immutable=1")
}
