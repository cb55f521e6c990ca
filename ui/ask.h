#pragma once

#include <QMetaObject>
#include <QPointer>

#include <functional>
#include <utility>

namespace heteroscope {

/// A callback that may be called on any thread and runs `then` on `context`'s thread, or not at all when `context`
/// is gone by then.
template <class T>
std::function<void(T)> onThreadOf(QObject* context, std::function<void(T)> then) {
    return [alive = QPointer<QObject>(context), target = context, then = std::move(then)](T value) {
        // QPointer is read on the target's thread only; the queued call dies with its context.
        if (!alive) return;
        QMetaObject::invokeMethod(target, [then, value = std::move(value)]() mutable { then(std::move(value)); },
                                  Qt::QueuedConnection);
    };
}

}  // namespace heteroscope
