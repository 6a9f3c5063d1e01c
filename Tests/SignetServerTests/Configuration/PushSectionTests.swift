import SignetCore
import SignetPushGateway
import Testing

@testable import SignetServer

@Suite("The `push` section of a configuration file")
struct PushSectionTests {
    @Test("The `push` section sets the SNS delivery and the push gateway, with AM's setting names")
    func readsPushSection() throws {
        let configuration = try ServerConfiguration(
            yaml: """
                push:
                  sns:
                    accessKey: AKIDEXAMPLE
                    secret: "s3cret: +"
                    sessionToken: lent
                    appleEndpoint: arn:aws:sns:eu-west-1:123456789012:app/APNS_SANDBOX/app
                    googleEndpoint: arn:aws:sns:eu-west-1:123456789012:app/GCM/signet
                    endpoint: http://127.0.0.1:4566/
                    timeout: 2
                    waitForDelivery: false
                  gateway:
                    path: /push/
                    keys:
                      - {accessKey: one, secret: first}
                      - {accessKey: two, secret: second}
                """)
        let sns = try #require(configuration.sns)
        #expect(!sns.waitsForDelivery && SNSConfiguration().waitsForDelivery)
        #expect(sns.usedRegion == "eu-west-1" && sns.timeout == 2 && sns.endpoint == "http://127.0.0.1:4566/")
        #expect(
            sns.credentials
                == AWSCredentials(accessKey: "AKIDEXAMPLE", secret: Secret("s3cret: +".utf8), sessionToken: Secret("lent".utf8)))
        #expect(sns.application(for: "apns")?.contains("APNS_SANDBOX") == true)
        let gateway = try #require(configuration.pushGateway)
        #expect(gateway.normalPath == "/push" && gateway.keys.map(\.accessKey) == ["one", "two"])
    }

    @Test("Without a `push` section, or with an empty one, no push message is sent over SNS and there is no push gateway")
    func absentPushSectionTurnsSNSOff() throws {
        for yaml in ["realms: [/]", "realms: [/]\npush:", "push: {}"] {
            let configuration = try ServerConfiguration(yaml: yaml)
            #expect(configuration.sns == nil && configuration.pushGateway == nil)
        }
    }

    static let google = "googleEndpoint: arn:aws:sns:us-east-1:123456789012:app/GCM/signet"

    @Test("A server finds the AWS key in the environment, and a missing key is reported with its line")
    func readsAWSKeyFromEnvironment() throws {
        let yaml = "push:\n  sns:\n    \(Self.google)\n"
        #expect(try ServerConfiguration(yaml: yaml).sns?.credentials == nil)
        let environment = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s"]
        let found = try ServerConfiguration(yaml: yaml, environment: environment, usesTLS: true)
        #expect(found.sns?.credentials == AWSCredentials(accessKey: "A", secret: Secret("s".utf8)))
        let own = try ServerConfiguration(
            yaml: yaml + "    accessKey: B\n    secret: t\n", environment: environment, usesTLS: true)
        #expect(own.sns?.credentials?.accessKey == "B")
        let error = try #require(throws: ConfigurationError.self) {
            _ = try ServerConfiguration(yaml: yaml, environment: [:], usesTLS: true)
        }
        #expect(
            error.description
                == "3:5: push, sns: there is no access key: set `accessKey` and `secret` here, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"
        )
        // A secret from the environment does not complete an access key from the file.
        let half = try #require(throws: ConfigurationError.self) {
            _ = try ServerConfiguration(yaml: yaml + "    accessKey: B\n", environment: environment, usesTLS: true)
        }
        #expect(half.problems.count == 1 && half.description.contains("`secret` is missing"))
    }

    static let wrong: [(String, String)] = [
        ("push: sns", "1:7 wrongType"),
        ("push: {sms: {}}", "1:8 unknownSetting"),
        ("push: {sns: {region: us-east-1}}", "1:13 missingSetting"),
        ("push:\n  sns:\n    googleEndpoint: arn:aws:sns:us-east-1:123456789012:app/APNS/signet", "3:21 invalidValue"),
        ("push:\n  sns:\n    \(google)\n    region: eu-west-1", "3:21 conflict"),
        ("push:\n  sns:\n    \(google)\n    accessKey: A", "3:5 missingSetting"),
        ("push:\n  sns:\n    \(google)\n    secret: A", "3:5 missingSetting"),
        ("push:\n  sns:\n    \(google)\n    endpoint: localhost", "4:15 invalidValue"),
        ("push:\n  sns:\n    \(google)\n    timeout: 0", "4:14 invalidValue"),
        ("push: {gateway: {path: /x}}", "1:17 missingSetting"),
        ("push: {gateway: {path: \"/a b\", keys: [{accessKey: a, secret: b}]}}", "1:24 invalidValue"),
        ("push: {gateway: {path: /am/sns, keys: [{accessKey: a, secret: b}]}}", "1:7 conflict"),
        ("push: {gateway: {keys: [{accessKey: a}]}}", "1:25 missingSetting"),
        ("push: {gateway: {keys: [{accessKey: a, secret: b}, {accessKey: a, secret: c}]}}", "1:52 duplicate"),
        ("push: {gateway: {keys: [a]}}", "1:25 wrongType"),
    ]

    @Test("Each mistake in the `push` section is reported with its position and code", arguments: wrong.indices)
    func reportsMistakesOfPushSection(index: Int) throws {
        let (yaml, expected) = Self.wrong[index]
        let error = try #require(throws: ConfigurationError.self) { _ = try ServerConfiguration(yaml: yaml) }
        let problems = error.problems.map { "\($0.position) \($0.code.rawValue)" }
        #expect(problems == [expected])
    }

    @Test("A problem's message in the `push` section never contains a secret")
    func pushProblemsHaveNoSecrets() throws {
        let yaml =
            "push:\n  gateway:\n    keys:\n      - {accessKey: a, secret: [hush, quiet]}\n      - {accessKey: b, secret:hush}"
        let error = try #require(throws: ConfigurationError.self) { _ = try ServerConfiguration(yaml: yaml) }
        #expect(!error.description.contains("hush") && !error.description.contains("quiet"), "\(error)")
    }
}
