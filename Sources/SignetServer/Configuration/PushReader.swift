import SignetCore
import SignetPushGateway
import YAMLText

/// Reads the section `push` of a configuration file (docs/reference/configuration.md), which configures the delivery of push messages.
struct PushReader {
    private(set) var problems: [ConfigurationProblem] = []
    /// The environment variables, which can contain the access key if the file does not; nil when only the file is read.
    private let environment: [String: String]?

    /// The settings of each section that was read, for ``ConfigurationSchema``.
    private(set) var settings: [SettingForm.Part: [Setting]] = [:]

    init(environment: [String: String]?) {
        self.environment = environment
    }

    /// Returns the settings of all sections.
    static func probe() -> [SettingForm.Part: [Setting]] {
        var reader = PushReader(environment: nil)
        let empty = MarkedValue(content: .mapping([]), position: .start)
        _ = reader.read(empty)
        _ = reader.readSNS(empty)
        _ = reader.readGateway(empty)
        var key = ConfigurationDecoder(empty, subject: nil)
        _ = reader.credentials(&key, areNeeded: false)
        reader.settings[.pushKey] = key.settings
        return reader.settings
    }

    /// Reads the section.
    ///
    /// The parts that the section omits are nil.
    mutating func read(_ value: MarkedValue?) -> (sns: SNSConfiguration?, gateway: PushGatewayConfiguration?) {
        guard let value else { return (nil, nil) }
        var reader = ConfigurationDecoder(value, subject: "push")
        let sns = reader.value("sns", kind: "the delivery over Amazon SNS", form: .part(.sns))
        let gateway = reader.value("gateway", kind: "the push gateway", form: .part(.gateway))
        settings[.push] = reader.settings
        problems += reader.finished()
        return (sns.map { readSNS($0) }, gateway.map { readGateway($0) })
    }

    // MARK: SNS

    /// Reads the SNS configuration.
    ///
    /// The settings have the names of AM's Push Notification Service.
    private mutating func readSNS(_ value: MarkedValue) -> SNSConfiguration {
        var reader = ConfigurationDecoder(value, subject: "push, sns")
        var sns = SNSConfiguration()
        sns.appleEndpoint = application("appleEndpoint", [.apple, .appleSandbox], &reader)
        sns.googleEndpoint = application("googleEndpoint", [.google], &reader)
        if sns.appleEndpoint == nil, sns.googleEndpoint == nil, reader.problems.isEmpty {
            reader.report(
                .missingSetting, at: value.position,
                "`appleEndpoint` or `googleEndpoint` is missing: the ARN of a platform application")
        }
        sns.region = reader.optionalString("region", default: "that of the platform applications")
        for (name, arn) in [("appleEndpoint", sns.appleEndpoint), ("googleEndpoint", sns.googleEndpoint)] {
            guard let region = sns.usedRegion, let found = arn.flatMap(SNSResource.init)?.region, found != region else {
                continue
            }
            reader.report(
                .conflict, in: name, "`\(name)` is in the region `\(found)`, but requests go to `\(region.shortened)`")
        }
        sns.credentials = credentials(&reader, areNeeded: false) ?? credentialsOutside(&reader)
        sns.endpoint = address("endpoint", &reader)
        sns.timeout = reader.integer("timeout", sns.timeout, in: 1...60)
        sns.waitsForDelivery = reader.bool("waitForDelivery", sns.waitsForDelivery)
        settings[.sns] = reader.settings
        problems += reader.finished()
        return sns
    }

    private func application(
        _ name: String, _ platforms: [SNSResource.Platform], _ reader: inout ConfigurationDecoder
    ) -> String? {
        let names = platforms.map(\.rawValue).joined(separator: " or ")
        guard let arn = reader.optionalString(name, kind: "the ARN of a platform application of \(names)") else { return nil }
        if let found = SNSResource(arn), found.kind == .application, platforms.contains(found.platform) { return arn }
        reader.report(
            .invalidValue, in: name,
            "`\(name)` must be the ARN of a platform application of \(names), "
                + "`arn:aws:sns:us-east-1:123456789012:app/\(platforms[0].rawValue)/NAME`, not `\(arn.shortened)`")
        return nil
    }

    private func address(_ name: String, _ reader: inout ConfigurationDecoder) -> String? {
        guard let url = reader.optionalString(name, kind: "a URL", default: "Amazon's in the region") else { return nil }
        do {
            // Plain HTTP is permitted, because the URL can be that of a local replacement for AWS SNS in a test.
            let endpoint = try Endpoint(unchecked: url)
            guard !url.contains("?"), !url.contains("#") else {
                reader.report(.invalidValue, in: name, "`\(name)` must be a URL without a query")
                return nil
            }
            return endpoint.url
        } catch {
            reader.report(.invalidValue, in: name, "`\(name)` must be a URL, `http://127.0.0.1:4566/`: \(error)")
            return nil
        }
    }

    /// Reads an access key.
    ///
    /// The problems never contain its value.
    private func credentials(_ reader: inout ConfigurationDecoder, areNeeded: Bool) -> AWSCredentials? {
        let id = string("accessKey", "the id of an access key", &reader)
        let secret = string("secret", "the secret of the access key", &reader)
        let token = string("sessionToken", "the session token of a temporary access key", &reader)
        if let id, let secret {
            return AWSCredentials(accessKey: id, secret: Secret(secret.utf8), sessionToken: token.map { Secret($0.utf8) })
        }
        if areNeeded || id != nil || secret != nil || token != nil {
            let missing = id == nil ? "accessKey" : "secret"
            reader.report(
                .missingSetting, at: reader.position,
                "`\(missing)` is missing: an access key has an `accessKey` and a `secret`, in quotes")
        }
        return nil
    }

    /// Reads the access key from the environment variables of AWS if the file has none.
    ///
    /// Command-line arguments are not used, because they must not contain secrets.
    private func credentialsOutside(_ reader: inout ConfigurationDecoder) -> AWSCredentials? {
        let isInFile = ["accessKey", "secret", "sessionToken"].contains { reader.isGiven($0) }
        guard let environment, !isInFile else { return nil }
        if let found = AWSCredentials(environment: environment) { return found }
        reader.report(
            .unusableResource, at: reader.position,
            "there is no access key: set `accessKey` and `secret` here, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"
        )
        return nil
    }

    private func string(_ name: String, _ kind: String, _ reader: inout ConfigurationDecoder) -> String? {
        guard let value = reader.value(name, kind: kind, form: .string) else { return nil }
        if let text = value.text, !text.isEmpty { return text }
        reader.report(.invalidValue, at: value.position, "`\(name)` must be \(kind), in quotes, and not empty")
        return nil
    }

    // MARK: Push gateway

    private mutating func readGateway(_ value: MarkedValue) -> PushGatewayConfiguration {
        var reader = ConfigurationDecoder(value, subject: "push, gateway")
        var gateway = PushGatewayConfiguration(keys: [])
        gateway.path = reader.string("path", gateway.path)
        if !TextRule.isPath(gateway.normalPath) {
            reader.report(
                .invalidValue, in: "path", "`path` must be a URL path of letters, digits and `/ - . _ ~`, such as `/sns`")
        }
        let keys = reader.elements("keys", kind: "a list of access keys", of: .part(.pushKey))
        settings[.gateway] = reader.settings
        if keys.isEmpty, reader.problems.isEmpty {
            reader.report(
                .missingSetting, at: value.position,
                "`keys` is missing: clients need an access key; `keys: [{accessKey: \"...\", secret: \"...\"}]`")
        }
        problems += reader.finished()
        for key in keys {
            var part = ConfigurationDecoder(key, subject: "push, gateway, keys")
            let found = credentials(&part, areNeeded: key.mapping != nil)
            if let found, gateway.keys.contains(where: { $0.accessKey == found.accessKey }) {
                part.report(.duplicate, at: key.position, "another key has the same `accessKey`")
            }
            if let found { gateway.keys.append(found) }
            problems += part.finished()
        }
        return gateway
    }
}
