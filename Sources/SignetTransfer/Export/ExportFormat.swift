import SignetCore

/// The formats of files that accounts are exported in, for other programs.
///
/// A backup of everything is an ``AccountArchive``.
public enum ExportFormat: String, Sendable, Hashable, CaseIterable {
    /// `otpauth` URIs, one per line.
    case otpauth
    /// An Aegis vault, plain or encrypted with a password.
    case aegis
    /// The JSON of the Credential Exchange Format of the FIDO Alliance (CXF), which has time-based codes only.
    case cxf

    /// The name of the format for people.
    public var title: String {
        switch self {
        case .otpauth: "otpauth list"
        case .aegis: "Aegis vault"
        case .cxf: "FIDO Credential Exchange Format"
        }
    }

    /// True when a file of this format can be encrypted with a password.
    public var canBeEncrypted: Bool { self == .aegis }

    /// The name of the format at the beginning of a sentence of a report.
    private var subject: String {
        switch self {
        case .otpauth: "a list of URIs"
        case .aegis: "an Aegis vault"
        case .cxf: "the Credential Exchange Format"
        }
    }

    /// The reason why push mechanisms are not exported.
    var pushRefusal: String { "\(subject) has no place for push; 'signet backup create' takes everything" }

    /// Returns the reason why this format cannot represent one-time codes; nil when it can.
    func refusal(of settings: OATHSettings) -> String? {
        switch (self, settings.factor) {
        case (.otpauth, _), (.aegis, .time): return nil
        case (.aegis, .counter(let next)):
            return Int64(exactly: next) == nil ? "\(subject) has no place for a counter as great as that of this account" : nil
        case (.cxf, .counter): return "\(subject) has no place for codes with a counter"
        case (.cxf, .time(let period)):
            guard settings.encoding == .decimal else { return "\(subject) has no place for Steam's codes" }
            return UInt8(exactly: period.seconds) == nil ? "\(subject) has no place for a period above 255 seconds" : nil
        }
    }
}
