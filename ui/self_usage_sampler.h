#pragma once

#include <QObject>
#include <QThread>

namespace heteroscope {

/// Measures on a thread of its own what this program itself costs, every two seconds.
class SelfUsageSampler : public QObject {
    Q_OBJECT
public:
    explicit SelfUsageSampler(QObject* parent = nullptr);
    ~SelfUsageSampler() override;

signals:
    /// CPU as a share of one core (1.0: a whole one), resident bytes; negative when it cannot be told.
    void taken(double cpu, double bytes);

private:
    QThread thread_;
};

}  // namespace heteroscope
