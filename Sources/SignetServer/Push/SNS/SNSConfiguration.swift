/// The configuration of AWS SNS, through which push messages reach phones. The properties have the names of AM's Push
/// Notification Service.
public struct SNSConfiguration: Sendable, Hashable {
    /// The ARN of the platform application for Apple devices (`APNS` or `APNS_SANDBOX`). If it is nil, devices of the
    /// communication type `apns` cannot register.
    public var appleEndpoint: String?
    /// The ARN of the platform application for all other devices (`GCM`). If it is nil, such devices cannot register.
    public var googleEndpoint: String?
    /// The AWS region; nil to use the region of the platform applications.
    public var region: String?
    /// The credentials of the requests. If they are nil, nothing can be sent; `signet serve` then reads them from its
    /// environment.
    public var credentials: AWSCredentials?
    /// The URL of the API; nil for Amazon's URL in the region.
    public var endpoint: String?
    /// The timeout of a request, in seconds; at least 1.
    public var timeout = 5

    /// Creates a configuration without platform applications, with the changes that `configure` makes to the defaults.
    public init(_ configure: (inout Self) -> Void = { _ in }) { configure(&self) }

    /// The region of the requests; nil when neither ``region`` nor a platform application specifies one.
    var usedRegion: String? {
        region ?? [appleEndpoint, googleEndpoint].lazy.compactMap { $0.flatMap(SNSResource.init)?.region }.first
    }

    /// Returns the platform application for a communication type. As in AM, any type except exactly `apns` uses
    /// ``googleEndpoint``.
    func application(for communicationType: String) -> String? {
        communicationType == "apns" ? appleEndpoint : googleEndpoint
    }
}

/// The ARN of a platform application (`arn:aws:sns:REGION:ACCOUNT:app/PLATFORM/NAME`) or of an endpoint
/// (`...:endpoint/PLATFORM/NAME/ID`).
struct SNSResource: Sendable, Hashable {
    enum Kind: String {
        case application = "app"
        case endpoint
    }

    enum Platform: String, Sendable, CaseIterable {
        case apple = "APNS"
        case appleSandbox = "APNS_SANDBOX"
        case google = "GCM"
    }

    let kind: Kind
    let partition: String
    let region: String
    let account: String
    let platform: Platform
    let name: String
    /// The id of an endpoint within its application; nil for an application.
    let id: String?

    init?(_ text: String) {
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
    func endpoint(_ id: String) -> String {
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
