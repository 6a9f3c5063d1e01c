import SignetCore

/// The findings about one provider.
struct CheckReport: Sendable {
    let issuer: String
    /// The address of the metadata.
    let document: String
    let findings: [CheckFinding]

    /// Returns the number of findings with a result.
    func count(_ result: CheckFinding.Result) -> Int { findings.count { $0.result == result } }

    /// The report as lines for people, by section.
    var lines: [TerminalText] {
        var lines: [TerminalText] = ["\(issuer) beside RFC 9700 (\(document)):"]
        for section in CheckSection.allCases {
            let own = findings.filter { $0.section == section }
            guard !own.isEmpty else { continue }
            lines += ["", "\(section.rawValue) \(section.title)"]
            for finding in own {
                let word = finding.result.rawValue.padding(to: 7)
                lines.append("  \(word)  \(finding.id): \(finding.reason)")
            }
        }
        let skipped = count(.skipped)
        let rest: TerminalText = skipped > 0 ? ", \(skipped) skipped" : ""
        lines += ["", "\(count(.pass)) passed, \(count(.warn).of("warning")), \(count(.fail)) failed\(rest)"]
        return lines
    }

    /// The report in the JSON output.
    var json: JSONValue {
        let summary = CheckFinding.Result.allCases.map { ($0.rawValue, JSONValue.integer(Int64(count($0)))) }
        return .object([
            "issuer": .string(issuer), "document": .string(document), "findings": .array(findings.map(\.json)),
            "summary": .object(Dictionary(uniqueKeysWithValues: summary)),
        ])
    }
}

extension String {
    /// Returns the text with spaces at its end, up to a length.
    fileprivate func padding(to length: Int) -> String { self + String(repeating: " ", count: max(0, length - count)) }
}
