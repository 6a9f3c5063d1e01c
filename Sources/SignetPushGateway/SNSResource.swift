/// The ARN of a platform application (`arn:aws:sns:REGION:ACCOUNT:app/PLATFORM/NAME`) or of an endpoint
/// (`...:endpoint/PLATFORM/NAME/ID`).
package struct SNSResource: Sendable, Hashable {
    /// The kinds of resources.
    ///
    /// The raw value is part of the ARN.
    package enum Kind: String {
        case application = "app"
        case endpoint
    }

    /// The platforms of devices.
    ///
    /// The raw value is part of the ARN.
    package enum Platform: String, Sendable, CaseIterable {
        case apple = "APNS"
        case appleSandbox = "APNS_SANDBOX"
        case google = "GCM"
    }

    /// The kind of the resource.
    package let kind: Kind
    private let partition: String
    /// The AWS region.
    package let region: String
    private let account: String
    /// The platform of the devices.
    package let platform: Platform
    private let name: String
    /// The id of an endpoint within its application; nil for an application.
    private let id: String?

    /// Reads an ARN; nil when the text is not the ARN of a platform application or of an endpoint.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard text.utf8.count <= 1024, parts.count == 6, parts[0] == "arn", parts[2] == "sns",
            [parts[1], parts[3], parts[4]].allSatisfy({ $0.isPlainWord })
        else { return nil }
        let steps = parts[5].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let kind = steps.first.flatMap(Kind.init), steps.count == (kind == .application ? 3 : 4),
            let platform = Platform(rawValue: steps[1]), steps.dropFirst(2).allSatisfy(\.isPlainWord)
        else { return nil }
        (partition, region, account) = (parts[1], parts[3], parts[4])
        (self.kind, self.platform, name, id) = (kind, platform, steps[2], steps.count == 4 ? steps[3] : nil)
    }

    /// Returns the ARN of an endpoint of this application.
    package func endpoint(_ id: String) -> String {
        "arn:\(partition):sns:\(region):\(account):\(Kind.endpoint.rawValue)/\(platform.rawValue)/\(name)/\(id)"
    }
}

extension String {
    /// True when the text is not empty and contains only ASCII letters, digits, `-`, `_` and `.`, as the parts of an ARN do.
    fileprivate var isPlainWord: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
