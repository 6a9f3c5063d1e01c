// The engine's types that signatures of the callback classes name, so that `import FRAuth` suffices.

@_exported public import enum SignetCore.JSONValue
@_exported public import struct SignetCore.JourneyCallback
@_exported public import struct SignetCore.JourneyStep
@_exported public import struct SignetJourney.DeviceBinding
@_exported public import struct SignetJourney.DeviceProfile
@_exported public import struct SignetJourney.DeviceProfileCollector
@_exported public import struct SignetJourney.WebAuthnAssertion
@_exported public import struct SignetJourney.WebAuthnAttestation
@_exported public import struct SignetJourney.WebAuthnAuthentication
@_exported public import protocol SignetJourney.WebAuthnAuthenticator
@_exported public import enum SignetJourney.WebAuthnOutcome
@_exported public import struct SignetJourney.WebAuthnRegistration
