#pragma once

#include <QList>
#include <QString>
#include <QWidget>

#include <functional>

class QHBoxLayout;
class QVBoxLayout;

namespace heteroscope {

/// One thing a person should know, with its way out and what can be done about it.
struct Notice {
    struct Action {
        QString text;
        std::function<void()> run;
        bool dismisses = true;
    };
    QString key;  ///< a notice of the same key takes the older one's place
    QString text;
    QString remedy;
    QList<Action> actions;
};

/// The strip under the header: a problem and its remedy, never a modal box. Shows the newest notices (two at a time,
/// older ones follow when those are dismissed).
class NoticeStrip : public QWidget {
    Q_OBJECT
public:
    explicit NoticeStrip(QWidget* parent = nullptr);

    void add(Notice notice);
    void remove(const QString& key);
    bool contains(const QString& key) const;
    int count() const { return static_cast<int>(notices_.size()); }
    const QList<Notice>& notices() const { return notices_; }

signals:
    void dismissed(const QString& key);

private:
    void rebuild();
    QWidget* makeRow(const Notice& notice);

    QVBoxLayout* layout_;
    QList<Notice> notices_;
};

}  // namespace heteroscope
