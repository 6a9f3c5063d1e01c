import Testing

@testable import SignetServer

@Suite("Names of secret settings")
struct SecretNameTests {
    @Test(
        "A setting is a secret by the end of its name",
        arguments: [
            ("password", true), ("bindPassword", true), ("clientSecret", true), ("apiKey", true), ("keystorePasswd", true),
            ("secretAccessKey-encrypted", true), ("passphrase", true), ("privateKey", true), ("passwordExpiryTime", false),
            ("sessionDataKey", false), ("secretId", false), ("mail", false), ("", false),
        ])
    func tellsSecretByEnd(name: String, isSecret: Bool) { #expect(name.isSecretName == isSecret) }

    @Test(
        "Messages repeat no value of a setting that could be a secret",
        arguments: [
            ("password", true), ("keystorePasswd", true), ("passphrase", true), ("passwordExpiryTime", true), ("siteKey", true),
            ("accessTokens", true), ("value-encrypted", true), ("mail", false), ("", false),
        ])
    func tellsPossibleSecret(name: String, canBeSecret: Bool) { #expect(name.canBeSecretName == canBeSecret) }
}
