#pragma once

#include "scheduler/history/history_reader.h"

#include <QDate>
#include <QTimer>
#include <QWidget>

class QComboBox;
class QDateEdit;
class QLineEdit;
class QMenu;
class QToolButton;

namespace heteroscope {

class LinkButton;

/// Text, state, kernel, device, policy and date as controls; together they are a HistoryFilter (without session and
/// order). Every change is told at once, typing after a short rest.
class HistoryFilterBar : public QWidget {
    Q_OBJECT
public:
    explicit HistoryFilterBar(QWidget* parent = nullptr);

    /// The names there are to choose from; a choice that is gone stays until it is cleared.
    void setFacets(const HistoryFacets& facets);
    HistoryFilter filter() const;
    bool active() const;
    void clear();
    void focusText();
    /// Moves the dates on: "today" means another day after midnight. True when the filter is another one now.
    bool dayChanged();

signals:
    void changed();

private:
    enum Range { AllDays, Today, SevenDays, ThirtyDays, Custom };
    QComboBox* makeBox(const QString& name, const QString& all);
    void makeStates();
    void makeDates();
    void fillBox(QComboBox* box, const std::vector<std::string>& names) const;
    void refresh();
    void tell();
    std::vector<JobState> states() const;

    QLineEdit* text_;
    QToolButton* stateButton_;
    QMenu* stateMenu_;
    QComboBox *kernel_, *device_, *policy_, *range_;
    QDateEdit *from_, *to_;
    LinkButton* clear_;
    QTimer typing_;
    QDate today_;
};

}  // namespace heteroscope
