#pragma once

#include "devices/error.h"

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <string>
#include <vector>

namespace heteroscope::history {

/// "HtSc": stands in the database's header, so that `file` and we ourselves know whose it is.
inline constexpr int applicationId = 0x48745363;
/// The schema this program writes: the number of steps below.
int schemaVersion();

inline constexpr const char* databaseName = "history.db";

/// Applies the steps from the file's version to `version`, one transaction a step. Throws SQLite::Exception.
void upgrade(SQLite::Database& database, int version = schemaVersion());

/// What a file turned out to be, before anything in it was changed.
enum class FileState { Fresh, Ours, Newer, Foreign, Corrupt };
struct FileVerdict {
    FileState state = FileState::Fresh;
    int version = 0;      ///< its schema, for Ours and Newer
    std::string problem;  ///< SQLite's words, for Corrupt
};
/// Looks without writing. `thorough` reads every page (seconds for a large file). Throws SQLite::Exception for
/// what is no fault of the file: locked, no permission, I/O.
FileVerdict inspect(const std::filesystem::path& file, bool thorough);

/// Renames the database and its -wal and -shm to "history-YYYYMMDD-HHMMSS.corrupt.db…" and returns the new name.
/// Errors: Io.
Result<std::filesystem::path> keepAside(const std::filesystem::path& file);

/// Writer's settings: WAL, foreign keys, full synchronisation. Throws SQLite::Exception.
void configureWriter(SQLite::Database& database);
void configureReader(SQLite::Database& database);

/// True for codes which say that the file itself is damaged.
bool meansCorrupt(int sqliteCode);
/// "/path/history.db: cause" and what to do about it.
Error describe(const std::filesystem::path& file, const SQLite::Exception& error);

}  // namespace heteroscope::history
