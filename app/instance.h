#pragma once

#include "app/data_lock.h"
#include "app/paths.h"
#include "app/request.h"

#include <QByteArray>
#include <QLocalServer>
#include <QObject>
#include <QStringList>

#include <functional>
#include <memory>
#include <optional>

class QLocalSocket;

namespace heteroscope {

// How processes of one user on one data folder speak with each other: a Unix socket in the user's runtime folder, a
// JSON value a line.
//   → { "heteroscope": 1, "request": {…} }      then, to stop it: { "cancel": true }
//   ← { "progress": { "text", "done", "total" } } | { "message": "…" }   any number of them
//   ← { "answer": { "exit": 0, "document": {…} } }                       the last line
// A request whose sender goes away is stopped like one that was cancelled.

/// Where the holder of this folder listens: one name a folder.
std::filesystem::path socketFile(const Paths& paths);

/// Makes the folder for sockets, private to the user. Errors (io): it belongs to somebody else or cannot be made.
Status prepareRuntimeFolder(const std::filesystem::path& folder);

/// Takes requests from other processes. The thread of its event loop; handlers run on threads of their own.
class InstanceServer : public QObject {
    Q_OBJECT
public:
    using Handler = std::function<Answer(const Request&, const Reporter&)>;

    InstanceServer(const Paths& paths, Handler handler, QObject* parent = nullptr);
    /// Stops every request and waits for its handler.
    ~InstanceServer() override;

    /// Errors (io): the socket cannot be made; the program then works, but cannot be reached.
    Status listen();
    std::size_t openRequests() const { return openRequests_; }
    /// Is there a window here that a `raise` may bring to the front?
    void setHasWindow(bool hasWindow) { hasWindow_ = hasWindow; }

signals:
    void raiseRequested(const QStringList& files);
    void becameIdle();  ///< the last open request has ended

private:
    class Conversation;
    void accept();

    std::filesystem::path socket_;
    std::filesystem::path folder_;
    Handler handler_;
    QLocalServer server_;
    std::size_t openRequests_ = 0;
    bool hasWindow_ = false;
};

/// Asks the process that holds the folder. No value: nobody listens there (yet). Blocks until the answer; needs a
/// QCoreApplication. `reporter.stop` cancels the request.
std::optional<Answer> askHolder(const Paths& paths, const Request& request, const Reporter& reporter);

/// Carries a request out: here, having become the holder of the folder, or by the process that is it. `deliver` gets the
/// answer as soon as it is there; a holder then stays while it carries out requests of others. Blocks; main thread
/// of a command.
Answer perform(const Paths& paths, const Request& request, const Reporter& reporter,
               const std::function<void(const Answer&)>& deliver);

}  // namespace heteroscope
