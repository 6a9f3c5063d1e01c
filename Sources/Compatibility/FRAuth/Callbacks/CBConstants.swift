// The names in the JSON of callbacks (protocol/journey.md sections 2.6 to 2.8), for callback classes of apps.

/// The names in the server's JSON, for callback classes of apps.
public struct CBConstants {
    private init() {}
}

// MARK: Members of every callback

extension CBConstants {
    /// `type`, the member with the callback's type.
    public static let type = "type"
    /// `_type`, the member of metadata with its type.
    public static let _type = "_type"
    /// `_action`, the member of metadata with the requested operation.
    public static let _action = "_action"
    /// `input`, the member with the inputs.
    public static let input = "input"
    /// `output`, the member with the outputs.
    public static let output = "output"
    /// `name`, the member with a field's name, and the output with an attribute's name.
    public static let name = "name"
    /// `value`, the member with a field's value, and the output with the current value.
    public static let value = "value"
    /// `data`, the output with metadata.
    public static let data = "data"
    /// `_id`, the member with the index in the step.
    public static let _id = "_id"
    /// `prompt`, the output with the prompt.
    public static let prompt = "prompt"
    /// `messageType`, the output with the kind of a message.
    public static let messageType = "messageType"
    /// `option`, the output with the selected button.
    public static let option = "option"
    /// `options`, the output with the labels of buttons.
    public static let options = "options"
    /// `optionType`, the output with the standard set of buttons.
    public static let optionType = "optionType"
    /// `defaultOption`, the output with the proposed button.
    public static let defaultOption = "defaultOption"
    /// `message`, the output with a message.
    public static let message = "message"
    /// `stage`, the member of metadata with the stage of the page.
    public static let stage = "stage"
}

// MARK: Identity providers

extension CBConstants {
    /// `providers`, the output with the offered providers.
    public static let providers = "providers"
    /// `provider`, the output with the provider.
    public static let provider = "provider"
    /// `uiConfig`, the member with the look of a provider's button.
    public static let uiConfig = "uiConfig"
    /// `clientId`, the output with the client identifier.
    public static let clientId = "clientId"
    /// `redirectUri`, the output with the redirect URI.
    public static let redirectUri = "redirectUri"
    /// `nonce`, the output with the nonce.
    public static let nonce = "nonce"
    /// `scopes`, the output with the scopes.
    public static let scopes = "scopes"
    /// `acrValues`, the output with the authentication context classes.
    public static let acrValues = "acrValues"
    /// `request`, the output with a signed request object.
    public static let request = "request"
    /// `requestUri`, the output with the address of a request object.
    public static let requestUri = "requestUri"
    /// `acceptsJSON`, the output that allows a token as JSON.
    public static let acceptsJSON = "acceptsJSON"
    /// `token`, the ending of the input for the token.
    public static let token = "token"
    /// `token_type`, the ending of the input for the token's type.
    public static let tokenType = "token_type"
    /// `apple`, the name of Apple's provider.
    public static let apple = "apple"
    /// `google`, the name of Google's provider.
    public static let google = "google"
    /// `facebook`, the name of Facebook's provider.
    public static let facebook = "facebook"
}

// MARK: Device profile

extension CBConstants {
    /// `location`, the output that asks for the location.
    public static let location = "location"
    /// `metadata`, the output that asks for the metadata.
    public static let metadata = "metadata"
}

// MARK: Security questions

extension CBConstants {
    /// `predefinedQuestions`, the output with the offered questions.
    public static let predefinedQuestions = "predefinedQuestions"
    /// `question`, the ending of the input for the question.
    public static let question = "question"
    /// `answer`, the ending of the input for the answer.
    public static let answer = "answer"
}

// MARK: Choices

extension CBConstants {
    /// `choices`, the output with the choices.
    public static let choices = "choices"
    /// `defaultChoice`, the output with the proposed choice.
    public static let defaultChoice = "defaultChoice"
}

// MARK: reCAPTCHA and waiting

extension CBConstants {
    /// `recaptchaSiteKey`, the output with the site key.
    public static let recaptchaSiteKey = "recaptchaSiteKey"
    /// `waitTime`, the output with the delay.
    public static let waitTime = "waitTime"
}

// MARK: Terms and conditions

extension CBConstants {
    /// `version`, the output with the version of the terms.
    public static let version = "version"
    /// `createDate`, the output with the date of the terms.
    public static let createDate = "createDate"
    /// `terms`, the output with the terms.
    public static let terms = "terms"
}

// MARK: Validated values

extension CBConstants {
    /// `echoOn`, the output that allows to show a password.
    public static let echoOn = "echoOn"
    /// `policies`, the output with the policies.
    public static let policies = "policies"
    /// `validateOnly`, the output, and the ending of the input, that asks for a validation only.
    public static let validateOnly = "validateOnly"
    /// `failedPolicies`, the output with the policies that a value did not satisfy.
    public static let failedPolicies = "failedPolicies"
    /// `params`, the member with the parameters of a policy.
    public static let params = "params"
    /// `policyRequirement`, the member with the name of a requirement.
    public static let policyRequirement = "policyRequirement"
    /// `required`, the output that requires a value.
    public static let required = "required"
}

// MARK: Text input

extension CBConstants {
    /// `defaultText`, the output with the proposed text.
    public static let defaultText = "defaultText"
}

// MARK: Passkeys

extension CBConstants {
    /// `webAuthnOutcome`, the identifier of the hidden value for the outcome.
    public static let webAuthnOutcome = "webAuthnOutcome"
    /// `https://`, the beginning of an app's origin for AM 7.0 and earlier.
    public static let originScheme = "https://"
    /// `ios:bundle-id:`, the beginning of an app's origin for AM 7.1 and later.
    public static let originPrefix = "ios:bundle-id:"
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// `WebAuthn`, the type of the metadata.
    public static let WebAuthn = "WebAuthn"
    /// `pubKeyCredParams`, the member with the signature algorithms.
    public static let pubKeyCredParams = "pubKeyCredParams"
    /// `challenge`, the member with the challenge.
    public static let challenge = "challenge"
    /// `supportsJsonResponse`, the member with the permission to answer with JSON.
    public static let supportsJsonResponse = "supportsJsonResponse"
    /// `timeout`, the member with the time limit.
    public static let timeout = "timeout"
    /// `userVerification`, the member with the check of the user.
    public static let userVerification = "userVerification"
    /// `relyingPartyId`, the member with the relying party's identifier.
    public static let relyingPartyId = "relyingPartyId"
    /// `allowCredentials`, the member with the passkeys that may sign.
    public static let allowCredentials = "allowCredentials"
    /// `relyingPartyName`, the member with the relying party's name.
    public static let relyingPartyName = "relyingPartyName"
    /// `attestationPreference`, the member with the attestation to make.
    public static let attestationPreference = "attestationPreference"
    /// `displayName`, the member with the user's name to show.
    public static let displayName = "displayName"
    /// `userName`, the member with the user's name on the server.
    public static let userName = "userName"
    /// `userId`, the member with the user's identifier.
    public static let userId = "userId"
    /// `requireResidentKey`, the member with the requirement of a discoverable passkey.
    public static let requireResidentKey = "requireResidentKey"
    /// `authenticatorAttachment`, the member with the kind of authenticator.
    public static let authenticatorAttachment = "authenticatorAttachment"
    /// `authenticatorSelection`, the member with the requirements for the authenticator.
    public static let authenticatorSelection = "authenticatorSelection"
    /// `excludeCredentials`, the member with the passkeys that the user has.
    public static let excludeCredentials = "excludeCredentials"
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// `webauthn_authentication`, the operation of a login.
    public static let webauthn_authentication = "webauthn_authentication"
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// `webauthn_registration`, the operation of a registration.
    public static let webauthn_registration = "webauthn_registration"
    /// `_relyingPartyId`, the member with the relying party's identifier in AM 7.1 and later.
    public static let _relyingPartyId = "_relyingPartyId"
    /// `_allowCredentials`, the member with the passkeys that may sign in AM 7.1 and later.
    public static let _allowCredentials = "_allowCredentials"
    /// `_authenticatorSelection`, the member with the requirements for the authenticator in AM 7.1 and later.
    public static let _authenticatorSelection = "_authenticatorSelection"
    /// `_excludeCredentials`, the member with the passkeys that the user has in AM 7.1 and later.
    public static let _excludeCredentials = "_excludeCredentials"
    /// `_pubKeyCredParams`, the member with the signature algorithms in AM 7.1 and later.
    public static let _pubKeyCredParams = "_pubKeyCredParams"
    /// `id`, the member with a passkey's identifier, and the output with a hidden value's identifier.
    public static let id = "id"
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// `public-key`, the type of every passkey.
    public static let public_key = "public-key"
    /// `alg`, the member with a COSE algorithm number.
    public static let alg = "alg"
}

// MARK: Devices and the app

extension CBConstants {
    /// `username`, the output with the user's name.
    public static let username = "username"
    /// `authenticationType`, the output with the protection of a key.
    public static let authenticationType = "authenticationType"
    /// `title`, the output with the title of a prompt.
    public static let title = "title"
    /// `subtitle`, the output with the subtitle of a prompt.
    public static let subtitle = "subtitle"
    /// `description`, the output with the text of a prompt.
    public static let description = "description"
    /// `jws`, the ending of the input for a signature.
    public static let jws = "jws"
    /// `deviceName`, the ending of the input for the device's name.
    public static let deviceName = "deviceName"
    /// `deviceId`, the ending of the input for the device's identifier.
    public static let deviceId = "deviceId"
    /// `clientError`, the ending of the input for the reason of a missing answer.
    public static let clientError = "clientError"
    /// `attestToken`, the output with the earlier attestation, and the ending of the input for a new one.
    public static let attest = "attestToken"
    /// `keyId`, the ending of the input for a key's identifier.
    public static let keyId = "keyId"
    /// `clientData`, the ending of the input for the signed data.
    public static let clientData = "clientData"
}
