#include "scheduler/workload/job_order.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace heteroscope {

std::optional<std::vector<std::size_t>> findCycle(const std::vector<std::vector<std::size_t>>& after) {
    enum class Mark : unsigned char { Unseen, OnPath, Done };
    std::vector<Mark> marks(after.size(), Mark::Unseen);
    struct Step {
        std::size_t position;
        std::size_t next;  ///< of its predecessors
    };
    std::vector<Step> path;
    for (std::size_t start = 0; start < after.size(); ++start) {
        if (marks[start] != Mark::Unseen) continue;
        path.push_back({start, 0});
        marks[start] = Mark::OnPath;
        while (!path.empty()) {
            Step& top = path.back();
            if (top.next == after[top.position].size()) {
                marks[top.position] = Mark::Done;
                path.pop_back();
                continue;
            }
            const std::size_t before = after[top.position][top.next++];
            if (marks[before] == Mark::OnPath) {
                const auto first = std::find_if(path.begin(), path.end(), [&](const Step& s) { return s.position == before; });
                std::vector<std::size_t> cycle;
                for (auto step = first; step != path.end(); ++step) cycle.push_back(step->position);
                // The path runs from a job to what it waits for: turned round, it reads in the order of execution.
                std::reverse(cycle.begin(), cycle.end());
                std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
                cycle.push_back(cycle.front());
                return cycle;
            }
            if (marks[before] == Mark::Unseen) {
                marks[before] = Mark::OnPath;
                path.push_back({before, 0});
            }
        }
    }
    return {};
}

std::vector<std::size_t> topologicalOrder(const std::vector<std::vector<std::size_t>>& after) {
    std::vector<std::size_t> open(after.size(), 0);
    std::vector<std::vector<std::size_t>> next(after.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        open[i] = after[i].size();
        for (const std::size_t before : after[i]) next[before].push_back(i);
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < after.size(); ++i)
        if (open[i] == 0) ready.push(i);
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        const std::size_t position = ready.top();
        ready.pop();
        order.push_back(position);
        for (const std::size_t behind : next[position])
            if (--open[behind] == 0) ready.push(behind);
    }
    return order;
}

}  // namespace heteroscope
